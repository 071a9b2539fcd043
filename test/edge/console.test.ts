/** The console over HTTP: who gets its page, what the page carries, and its files. */
import { describe, expect, test } from 'bun:test'
import type { ConsoleState } from '#edge/console/bundle'
import { CONSOLE_POLICY } from '#edge/console/page'
import { builtConsole } from '#test/support/console/built'
import { ageAccess, createVisitor, signedInVisitor } from '#test/support/http/visitor'
import { useApp } from '#test/support/use'

const { bundle } = await builtConsole()
let state: ConsoleState = bundle
const app = useApp({ overrides: { console: () => state, lanes: [] } })
/** A process of another build, which has none of those files. */
const upgraded = useApp(() => ({
  database: app.options,
  overrides: { console: () => ({ ...bundle, assets: new Map() }), lanes: [] },
}))

const withState = async (other: ConsoleState, run: () => Promise<void>): Promise<void> => {
  state = other
  try {
    await run()
  } finally {
    state = bundle
  }
}

const bootIn = (html: string) =>
  JSON.parse(/<script type="application\/json" id="boot">(.*?)<\/script>/.exec(html)![1]!)

describe('the page', () => {
  test('carries who is signed in, as data that cannot end its element', async () => {
    const { one, personId } = await signedInVisitor(app, { role: 'editor' })
    await app.owner`update tenant set name = ${'</script><script>alert(1)//'} where id = ${app.tenantId}`
    const { status, headers, text } = await one.get('/console/inbox?show=draft')
    expect([status, headers.get('cache-control')]).toEqual([200, 'no-cache'])
    expect(headers.get('content-security-policy')).toBe(CONSOLE_POLICY)
    const boot = bootIn(text)
    expect(boot.session).toMatchObject({
      person: { id: personId },
      role: 'editor',
      workspace: { id: app.tenantId, name: '</script><script>alert(1)//' },
      workspaces: [{ id: app.tenantId, role: 'editor' }],
    })
    expect(boot).toMatchObject({ time_zone: 'UTC', worker: `/console/${bundle.worker}` })
    expect(boot.origins).toContain(app.url)
    expect(text.match(/<script/g)).toHaveLength(2)
    expect(text).not.toMatch(/<style|style=|javascript:|\son\w+=/)
  })

  test('leads who is signed out to the sign-in page, and an ended access token to its renewal', async () => {
    const { one } = await signedInVisitor(app)
    const place = '/console/inbox/draft/1?show=draft'
    const next = `next=${encodeURIComponent(place)}`
    const signedOut = await createVisitor(app).get(place)
    expect([signedOut.status, signedOut.location]).toEqual([303, `/sign-in?${next}`])
    ageAccess(one)
    expect((await one.get(place)).location).toBe(`/api/v1/app/session/continue?${next}`)
  })

  test('is where the start page leads who is signed in, unless they ask for the plain one', async () => {
    const { one } = await signedInVisitor(app)
    expect((await one.get('/')).location).toBe('/console')
    expect((await one.get('/?plain=1')).text).toContain('<a href="/console">Open the console</a>')
    expect((await createVisitor(app).get('/')).status).toBe(200)
  })

  test('says that it is being built and tries again, or that it could not be', async () => {
    const { one } = await signedInVisitor(app)
    await withState('building', async () => {
      const { status, headers, text } = await one.get('/console')
      expect([status, headers.get('refresh'), headers.get('retry-after')]).toEqual([503, '1', '1'])
      expect(text).toContain('being built')
    })
    await withState('failed', async () => {
      const { status, headers, text } = await one.get('/console')
      expect([status, headers.get('refresh')]).toEqual([503, null])
      expect(text).toContain('<a href="/?plain=1">')
    })
    await withState('off', async () => {
      expect((await one.get('/console')).location).toBe('/')
      expect((await one.get('/')).text).toContain('Signed in as')
    })
  })

  test('of a foreign address takes no form, and says where this deployment is', async () => {
    const { text } = await createVisitor(app).send(
      '/sign-in',
      { email: 'a@example.com', password: 'x' },
      { origin: 'http://192.168.1.20:7070' },
    )
    expect(text).toContain(`open ${app.workplace.world.identity.publicUrl} and try again there`)
  })
})

describe('the files', () => {
  const get = (name: string, headers: Record<string, string> = {}) =>
    fetch(`${app.url}/console/${name}`, { headers, decompress: false })

  test('are everybody’s for a year, compressed once, with the policy that a worker needs', async () => {
    for (const [name, { type, gzip, plain }] of bundle.assets) {
      const response = await get(name, { 'accept-encoding': 'gzip' })
      expect([response.status, response.headers.get('content-type')]).toEqual([200, type])
      expect(response.headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
      expect(response.headers.get('content-security-policy')).toBe(CONSOLE_POLICY)
      expect((await response.arrayBuffer()).byteLength).toBe((gzip ?? plain).byteLength)
      const tag = response.headers.get('etag')!
      expect((await get(name, { 'if-none-match': tag })).status).toBe(304)
      const whole = await get(name, { 'accept-encoding': 'identity' })
      expect((await whole.bytes()).byteLength).toBe(plain.byteLength)
    }
  })

  test('of another build come from the process that has them', async () => {
    const { script } = bundle
    const ask = (headers: Record<string, string> = {}) =>
      fetch(`${upgraded.url}/console/${script}`, { headers })
    const response = await ask()
    expect([response.status, response.headers.get('content-security-policy')]).toEqual([
      200,
      CONSOLE_POLICY,
    ])
    expect(await response.bytes()).toEqual(bundle.assets.get(script)!.plain)
    expect((await ask({ 'x-tendril-hop': '1' })).status).toBe(404)
  })

  test('are not known while the console is being built', () =>
    withState('building', async () => {
      const { status, headers } = await get('main-00000000.js')
      expect([status, headers.get('retry-after')]).toEqual([503, '1'])
    }))

  test('of another build are 404, and never the page', async () => {
    for (const name of ['main-00000000.js', 'x.css', '..%2fmain.js', 'main.js.map']) {
      const response = await get(name)
      expect([name, response.status]).toEqual([name, 404])
      expect(response.headers.get('content-type')).toStartWith('application/json')
    }
  })
})
