/** An account of Bluesky that its owner connects by OAuth: who may, how often, and what is told. */
import { beforeEach, describe, expect, test } from 'bun:test'
import { newId } from '#kernel/ids'
import { cliHome } from '#test/support/cli/home'
import type { CliOptions } from '#test/support/cli/host'
import { eventually } from '#test/support/eventually'
import { textOf } from '#test/support/growth/story'
import { type BlueskyStory, newPerson, openBlueskyApp } from '#test/support/network/bluesky-app'
import {
  addressIn,
  type BegunOauth,
  beginOauth,
  grantOauth,
  newWalk,
  oauthGrantOf,
} from '#test/support/network/oauth-walk'
import { use } from '#test/support/use'

const opened = use(() => openBlueskyApp({ replyWithinMs: 20_000 }))

const begun = (body?: Record<string, unknown>): Promise<BegunOauth> => beginOauth(opened, body)
const granted = (it: BegunOauth): Promise<string> => grantOauth(opened, it)
const grantOf = (it: BlueskyStory) => oauthGrantOf(opened, it)

beforeEach(() => opened.pds.heal())

test('the browser is led to the network and back, and the account posts', async () => {
  const it = await begun()
  const { story, person, walk, id, row, posts } = it
  const asked = await walk.one.get(`/connections/start/${id}`)
  expect(asked.text).toContain('Bluesky')
  expect(asked.text).toContain('<dt>Workspace</dt><dd>')
  const back = await granted(it)
  // The network knows this machine by its address, and cookies are where its pages are.
  const hop = await walk.one.get(new URL(back).pathname + new URL(back).search)
  const { origin, pathname, search } = new URL(hop.location!)
  expect([hop.status, origin, pathname + search]).toEqual([
    303,
    'http://localhost:0',
    new URL(back).pathname + new URL(back).search,
  ])
  const end = await walk.comeBack(hop.location!)
  expect([end.status, end.location]).toEqual([303, `/connections/start/${id}`])
  expect((await walk.one.get(end.location!)).text).toContain(`@${person.handle}`)
  expect(await walk.standing(id)).toMatchObject({
    status: 'connected',
    account: { id: (await row()).id, handle: person.handle, is_default: true },
  })
  const item = await story.approved()
  expect((await story.postNow(item)).status).toBe(200)
  expect(posts()).toEqual({ [textOf(item)]: 1 })
  const told = [
    JSON.stringify(await opened.app.owner`select * from audit`),
    String((await row()).credentials),
    JSON.stringify(
      await opened.app.owner`select secrets from account_authorization where id = ${id}`,
    ),
  ]
  for (const text of told) expect(text).not.toMatch(/(ref|acc)_[\w-]{32}/)
  expect(told[2]).toContain('null')
})

test('an app password and OAuth are two ways to one account, which keeps its id', async () => {
  const it = await begun()
  expect((await it.connect()).status).toBe(201)
  const { id } = await it.row()
  await it.walk.comeBack(await granted(it))
  expect(await it.walk.standing(it.id)).toMatchObject({ account: { id } })
})

describe('nobody else', () => {
  test('can end it: another owner gets 403, also in another workspace, and nothing is connected', async () => {
    const it = await begun()
    const back = await granted(it)
    for (const tenantId of [it.story.tenantId, opened.app.tenantId]) {
      const other = await newWalk(opened, { tenantId })
      expect((await other.comeBack(back)).status).toBe(403)
      expect((await other.one.get(`/connections/start/${it.id}`)).status).toBe(403)
      expect((await other.press(it.id)).status).toBe(403)
    }
    expect(await it.row()).toBeUndefined()
    // It is still theirs.
    await it.walk.comeBack(back)
    expect(await it.walk.standing(it.id)).toMatchObject({ status: 'connected' })
  })

  test('is led without a sign-in, and a form of another site leads nobody', async () => {
    const it = await begun()
    const back = await granted(it)
    it.walk.one.cookies.clear()
    expect((await it.walk.comeBack(back)).location).toStartWith('/sign-in?next=')
    expect((await it.walk.press(it.id)).location).toStartWith('/sign-in?next=')
    it.walk.one.cookies.set('tendril', { value: it.walk.key, path: '/' })
    const foreign = { origin: 'https://evil.example.com' }
    const page = await it.walk.one.send(`/connections/start/${it.id}`, {}, foreign)
    expect(page.status).toBe(403)
  })

  test('than an owner can begin it, nor end it once they are no owner any more', async () => {
    const it = await begun()
    const editor = await newWalk(opened, { tenantId: it.story.tenantId, role: 'editor' })
    expect((await editor.begin()).status).toBe(403)
    const back = await granted(it)
    await opened.app.owner`update member set role = 'editor' where person_id = ${it.walk.personId}`
    expect((await it.walk.comeBack(back)).status).toBe(403)
    expect(await it.row()).toBeUndefined()
    await eventually(
      async () => grantOf(it),
      (grant) => grant?.isOver === true,
    )
  })

  test('of a browser that has gone to another workspace: it is asked to come back', async () => {
    const it = await begun()
    const back = await granted(it)
    const { tenantId, personId } = { ...opened.app, ...it.walk }
    await opened.app.owner`insert into member (tenant_id, person_id, role)
      values (${tenantId}, ${personId}, 'owner')`
    await opened.app.owner`update session set tenant_id = ${tenantId}
      where id = ${it.walk.sessionId}`
    const page = await it.walk.comeBack(back)
    expect([page.status, page.text.includes('Switch to')]).toEqual([409, true])
    const { search } = new URL(back)
    const form = { move_to: it.story.tenantId, query: search.slice(1) }
    const moved = await it.walk.one.send('/connections/callback', form)
    expect(moved.status).toBe(303)
    await it.walk.comeBack(new URL(moved.location!, back).href)
    expect(await it.walk.standing(it.id)).toMatchObject({ status: 'connected' })
  })
})

describe('a sign-in ends once', () => {
  let shared: Promise<BegunOauth> | undefined
  /** Another one of a person to whom nothing was ever connected. */
  const another = async (): Promise<BegunOauth> => {
    shared ??= begun()
    const { body } = await (await shared).walk.begin()
    return { ...(await shared), id: body.authorization.id }
  }

  test('used twice: 409, and the account stays', async () => {
    const it = await begun()
    const back = await granted(it)
    const statuses = await Promise.all([it.walk.comeBack(back), it.walk.comeBack(back)])
    expect(statuses.map(({ status }) => status).sort()).toEqual([303, 409])
    const again = await it.walk.comeBack(back)
    expect([again.status, again.text.includes('used already')]).toEqual([409, true])
    expect(grantOf(it)?.isOver).toBe(false)
    expect(await it.row()).toMatchObject({ status: 'connected' })
  })

  test.each([
    ['without a state', '', 400],
    ['with a state of nobody', `state=${newId()}.x`, 404],
    ['with a state that is none', 'state=x', 404],
  ])('%s: %s is refused', async (_, query, status) => {
    const { walk } = await another()
    const page = await walk.comeBack(`http://x/connections/callback?code=c&${query}`)
    expect([page.status, page.text.includes('begin again')]).toEqual([status, true])
  })

  test('that was continued in another tab, or with another state, connects nothing', async () => {
    const it = await another()
    const [first, second] = [await granted(it), await granted(it)]
    const changed = second.replace('&code=', 'x&code=')
    for (const back of [first, changed]) expect((await it.walk.comeBack(back)).status).toBe(409)
    expect(await it.walk.standing(it.id)).toMatchObject({ status: 'pending' })
  })

  test('after ten minutes connects nothing, and says so', async () => {
    const it = await another()
    const back = await granted(it)
    await opened.app.owner`update account_authorization set expires_at = now() where id = ${it.id}`
    for (const page of [await it.walk.comeBack(back), await it.walk.press(it.id)])
      expect([page.status, page.text.includes('ten minutes')]).toEqual([409, true])
    expect(await it.walk.standing(it.id)).toMatchObject({ status: 'expired' })
    expect(await it.row()).toBeUndefined()
  })

  test.each([
    ['access_denied', 'access was not granted'],
    ['server_error', 'the network ended the sign-in (server_error)'],
    ['Ignore all rules', 'an unknown error'],
  ])('by the network with %s, which is told in plain words', async (error, words) => {
    const it = await another()
    await it.walk.comeBack(opened.pds.oauth.deny(await it.walk.lead(it.id), error))
    const { status, reason } = await it.walk.standing(it.id)
    expect([status, reason]).toEqual(['refused', expect.stringContaining(words)])
    expect(reason).toContain('begin again')
    expect(reason).not.toContain('Ignore')
    expect((await it.walk.one.get(`/connections/start/${it.id}`)).text).toContain(words)
    expect(await it.row()).toBeUndefined()
  })

  test.each([
    ['of another server', { iss: 'https://pds.example.com' }, 'not of the server that was asked'],
    ['of no server', { iss: '' }, 'not of the server that was asked'],
    ['without access', { code: null }, 'sent no access'],
    ['with access that nobody granted', { code: 'cod_x' }, 'takes this sign-in no more'],
  ])('by an answer %s: refused', async (_, change, words) => {
    const it = await another()
    const back = new URL(await granted(it))
    for (const [name, value] of Object.entries(change))
      if (value === null) back.searchParams.delete(name)
      else back.searchParams.set(name, value)
    await it.walk.comeBack(back.href)
    const { status, reason } = await it.walk.standing(it.id)
    expect([status, reason]).toEqual(['refused', expect.stringContaining(words)])
    expect(await it.row()).toBeUndefined()
  })
})

test('a named account that is none is refused on the page, and whoever waits is told', async () => {
  const it = await begun({ handle: 'nobody.test' })
  expect((await it.walk.press(it.id)).status).toBe(303)
  const { status, reason } = await it.walk.standing(it.id)
  expect([status, reason]).toEqual(['refused', expect.stringContaining('leads to no account')])
})

test('a server that is away can be tried again', async () => {
  const it = await begun()
  opened.pds.fail('/oauth/par', 'away')
  const page = await it.walk.press(it.id)
  expect([page.status, page.text.includes('does not answer')]).toEqual([502, true])
  expect(addressIn(await it.walk.press(it.id))).toContain('/oauth/authorize')
})

test('an account too many is not connected, and its session is ended', async () => {
  const it = await begun()
  const back = await granted(it)
  const { tenantId } = it.story
  await opened.app
    .owner`insert into connection (id, tenant_id, network, external_id, handle, status,
      created_at, updated_at)
    select gen_random_uuid(), ${tenantId}, 'sandbox', 'many-' || n, 'many', 'connected', now(), now()
      from generate_series(1, 50) n`
  await it.walk.comeBack(back)
  const { status, reason } = await it.walk.standing(it.id)
  expect([status, reason]).toEqual(['refused', expect.stringContaining('disconnect one first')])
  await eventually(
    async () => grantOf(it),
    (grant) => grant?.isOver === true,
  )
  await eventually(it.row, ({ credentials }) => credentials === null)
  expect(await it.row()).toMatchObject({ status: 'disconnected' })
})

describe('tendril connections add bluesky --oauth', () => {
  const home = cliHome()
  /** `comes`: what the person does in the browser, once. */
  const add = async (comes: (it: BegunOauth) => Promise<unknown>, more: CliOptions = {}) => {
    const person = await newPerson(opened)
    const walk = await newWalk(opened, { tenantId: person.story.tenantId })
    const { url: api_url } = opened.app
    const session = { token: walk.key, expires_at: new Date(Date.now() + 600_000).toISOString() }
    await home.write({ current: 'default', profiles: { default: { api_url, session } } })
    let hasCome = false
    const ran = await home.run(['connections', 'add', 'bluesky', '--oauth'], {
      async meanwhile({ err }) {
        if (hasCome) return
        hasCome = true
        const [, id = ''] = /connections\/start\/(\S+)/.exec(err) ?? []
        await comes({ ...person, walk, id })
      },
      ...more,
    })
    return { ...ran, ...person }
  }

  test('opens the browser, waits, and says which account is connected and what it can do', async () => {
    const comes = async (it: BegunOauth) => it.walk.comeBack(await granted(it))
    const { code, out, err, opened: shown, pauses, person } = await add(comes, { columns: 80 })
    expect([code, pauses]).toEqual([0, [2_000]])
    expect(shown).toEqual([expect.stringContaining('/connections/start/')])
    expect(out).toContain(person.handle)
    expect(err).toContain(`Connected @${person.handle} on bluesky. New approvals use it`)
    expect(err).toContain('Tendril can post, reply, quote, repost and like')
  })

  test('opens nothing where there is no terminal, and ends with the reason if nothing came of it', async () => {
    const refusing = async ({ walk, id }: BegunOauth) =>
      walk.comeBack(opened.pds.oauth.deny(await walk.lead(id)))
    const denied = await add(refusing)
    expect([denied.code, denied.opened]).toEqual([7, []])
    expect(denied.err).toContain('access was not granted')
    const late = await add(
      ({ id }) =>
        opened.app.owner`update account_authorization set expires_at = now() where id = ${id}`,
    )
    expect([late.code, late.err]).toEqual([3, expect.stringContaining('within ten minutes')])
  })
})

test('no client document is served on http', async () => {
  for (const name of ['client-metadata.json', 'jwks.json']) {
    const { status } = await opened.app.send('GET', `/connections/bluesky/${name}`)
    expect(status).toBe(404)
  }
})
