/** The pages as a browser requests them: who can see them, where they lead, and what other pages cannot make them do. */
import { afterEach, describe, expect, test } from 'bun:test'
import { createWorkspace } from '#ops/operator/admin/workspaces'
import { testApp } from '#test/support/app'
import { createVisitor, type Visitor } from '#test/support/http/visitor'
import { askForCode, askForToken, forgetAttempts, inviteTo, joinAs, PASSWORD } from '#test/support/people'
import { useApp } from '#test/support/use'

const app = useApp()
afterEach(() => forgetAttempts(app))

const PAGES = ['/', '/sign-in', '/join', '/device']
const CONTINUE = '/api/v1/app/session/continue'
const visitor = () => createVisitor(app)

const signIn = async (one: Visitor, email: string, more: Record<string, string> = {}) =>
  one.send('/sign-in', { email, password: PASSWORD, ...more })

const signedIn = async (options: Parameters<typeof joinAs>[1] = {}) => {
  const person = await joinAs(app, options)
  const one = visitor()
  await signIn(one, person.email)
  return { ...person, one }
}

/** Replaces the access token by one that is no longer valid. */
const ageAccess = ({ cookies }: Visitor) => cookies.set('tendril', { value: 'too.old.token', path: '/' })

describe('every page', () => {
  test.each(PAGES)('%s runs no script, and cannot be framed, cached or leaked in a referrer', async (path) => {
    const { headers, text } = await visitor().get(path)
    if (headers.has('content-security-policy')) {
      const policy = headers.get('content-security-policy')!
      for (const rule of ["default-src 'none'", "form-action 'self'", "frame-ancestors 'none'", "base-uri 'none'"])
        expect(policy).toContain(rule)
      expect(policy).not.toContain('unsafe')
      expect(policy).not.toContain('script-src')
      expect([headers.get('x-frame-options'), headers.get('x-content-type-options')]).toEqual(['DENY', 'nosniff'])
      expect(text).not.toMatch(/<script|<img|<link|\son\w+=|style="/i)
      expect(text).toStartWith('<!doctype html>\n<html lang="en">')
    } else expect([path, headers.get('location')]).toEqual(['/device', '/sign-in?next=%2Fdevice'])
    expect([headers.get('cache-control'), headers.get('referrer-policy')]).toEqual(['no-store', 'same-origin'])
  })

  test.each(PAGES)('%s takes no form that another page submits', async (path) => {
    const { one } = await signedIn()
    const before = new Map(one.cookies)
    const foreign = [
      {},
      { origin: 'https://evil.example' },
      { origin: 'null' },
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site' },
    ]
    for (const headers of foreign) {
      const { status, text, headers: sent } = await one.send(path, { email: 'x@example.com', password: PASSWORD }, headers as never)
      expect([status, sent.getSetCookie()]).toEqual([403, []])
      expect(text).toContain('did not come from a page of this deployment')
    }
    expect(one.cookies).toEqual(before)
    expect((await one.get('/')).text).toContain('Sign out')
  })

  test('answers a request that is not a form with a page that says so', async () => {
    const reply = await visitor().send('/sign-in', {}, { origin: app.url, 'content-type': 'application/json' })
    expect([reply.status, reply.headers.get('content-type')]).toEqual([400, 'text/html; charset=utf-8'])
  })
})

describe('signing in on the page', () => {
  test('leads to the requested page, with new cookies', async () => {
    const { email } = await joinAs(app)
    const one = visitor()
    one.cookies.set('tendril', { value: 'planted', path: '/' })
    const reply = await signIn(one, email, { next: '/device?code=BCDF-GHJK' })
    expect([reply.status, reply.location]).toEqual([303, '/device?code=BCDF-GHJK'])
    expect(one.cookies.get('tendril')!.value).not.toBe('planted')
    expect((await one.get('/')).text).toContain(email)
    expect((await one.get('/sign-in?next=/device')).location).toBe('/device')
  })

  test('starts a new session instead of using one that was planted', async () => {
    const [attacker, victim] = [await signedIn(), await joinAs(app)]
    const one = visitor()
    one.cookies.set('tendril', attacker.one.cookies.get('tendril')!)
    const planted = one.cookies.get('tendril')!.value
    await signIn(one, victim.email)
    expect(one.cookies.get('tendril')!.value).not.toBe(planted)
    expect((await one.get('/')).text).toContain(victim.email)
    expect((await attacker.one.get('/')).text).toContain(attacker.email)
    expect((await attacker.one.get('/')).text).not.toContain(victim.email)
  })

  test.each([
    '//evil.example',
    'https://evil.example/',
    '/\\evil.example',
    '\\\\evil.example',
    'javascript:alert(1)',
    '/\t/evil.example',
    '/\n/evil.example',
    '/.//evil.example',
    '/a/..//evil.example',
    'evil.example',
    '@evil.example',
    '/sign-in/../..//evil.example/%2f..',
  ])('never leads to another site: %p', async (next) => {
    const { email } = await joinAs(app)
    const one = visitor()
    const location = (await signIn(one, email, { next })).location!
    expect(new URL(location, app.url).origin).toBe(app.url)
    expect(location).toMatch(/^\/(?![/\\])/)
    const again = (await one.get(`/sign-in?next=${encodeURIComponent(next)}`)).location!
    const further = (await one.get(`${CONTINUE}?next=${encodeURIComponent(next)}`)).location!
    for (const place of [again, further]) expect(new URL(place, app.url).origin).toBe(app.url)
  })

  test('explains a refusal beside the form, in the same words for every account, and keeps the email', async () => {
    const { email } = await joinAs(app)
    for (const account of [email, 'nobody@example.com']) {
      const { status, text } = await visitor().send('/sign-in', { email: account, password: 'wrong' })
      expect(status).toBe(400)
      expect(text).toContain('<title>Error: Sign in · Tendril</title>')
      expect(text).toContain('<li>The email or the password is wrong.</li>')
      expect(text).toContain(`value="${account}"`)
      expect(text).not.toContain('value="wrong"')
    }
    const { text } = await visitor().send('/sign-in', { email: 'no email', password: 'x' })
    expect(text).toContain('<li><a href="#email">Email')
    expect(text).toMatch(/<input id="email"[^>]* aria-describedby="email-wrong" aria-invalid="true">/)
  })

  test('behind https, sets cookies that no sibling domain can set, and takes forms from the public address', async () => {
    const publicUrl = 'https://tendril.example.com'
    await using secure = await testApp({ database: app.options, env: { PUBLIC_URL: publicUrl } })
    const { email } = await joinAs(app)
    const one = createVisitor(secure)
    const reply = await one.send('/sign-in', { email, password: PASSWORD }, { origin: publicUrl })
    expect([reply.status, [...one.cookies.keys()]]).toEqual([303, ['__Host-tendril', '__Secure-tendril-refresh', '__Host-tendril-browser']])
    for (const cookie of reply.headers.getSetCookie()) expect(cookie).toMatch(/; HttpOnly; Secure; SameSite=(Lax|Strict)$/)
    expect((await one.get('/')).text).toContain(email)
    expect((await one.send('/', {}, { origin: 'http://tendril.example.com' })).status).toBe(403)
  })

  test('is rate-limited, and says for how long', async () => {
    const { email } = await joinAs(app)
    for (let tries = 0; tries < 10; tries++) await visitor().send('/sign-in', { email, password: 'wrong' })
    const { status, text, headers } = await signIn(visitor(), email)
    expect([status, headers.has('retry-after')]).toEqual([429, true])
    expect(text).toContain('Too many attempts. Try again in 15 minutes.')
  })

  test('signing out on the page ends the session', async () => {
    const { one, email } = await signedIn()
    expect((await one.send('/', {})).location).toBe('/')
    expect([[...one.cookies.keys()], (await one.get('/')).text.includes(email)]).toEqual([['tendril-browser'], false])
  })
})

describe('joining on the page', () => {
  test('shows the workspace and the role, and signs in the new member', async () => {
    const token = await inviteTo(app, { role: 'editor' })
    const one = visitor()
    const shown = await one.get(`/join?token=${token}`)
    expect(shown.text).toContain('<dd>Test</dd>')
    expect(shown.text).toContain('Editor')
    const short = await one.send('/join', { token, email: 'new@example.com', password: 'short', name: 'N' })
    expect([short.status, short.text]).toEqual([400, expect.stringContaining('<a href="#password">Password')])
    expect(short.text).toContain('value="new@example.com"')
    const joined = await one.send('/join', { token, email: 'new@example.com', password: PASSWORD, name: 'New One' })
    expect([joined.status, joined.location]).toEqual([303, '/'])
    expect((await one.get('/')).text).toContain('New One, new@example.com')
    const again = await visitor().get(`/join?token=${token}`)
    expect([again.status, again.text]).toEqual([404, expect.stringContaining('no longer valid')])
  })
})

describe('the device page', () => {
  test('leads through sign-in to the code, shows what asks, and approves it', async () => {
    const { email } = await joinAs(app, { role: 'viewer' })
    const { device_code, user_code } = await askForCode(app, { device_name: 'build machine' })
    const one = visitor()
    const to = (await one.get(`/device?code=${user_code}`)).location!
    expect(to).toBe(`/sign-in?next=${encodeURIComponent(`/device?code=${user_code}`)}`)
    expect((await one.get(to)).text).toContain(`name="next" value="/device?code=${user_code}"`)
    await signIn(one, email)
    const { text } = await one.get(`/device?code=${user_code}`)
    for (const shown of [user_code, 'build machine', '127.0.0.1', '<dd>Test</dd>', 'Viewer', 'your role cannot grant this'])
      expect(text).toContain(shown)
    const decided = await one.send('/device', { code: user_code, workspace_id: app.tenantId, decision: 'approve' })
    expect([decided.status, decided.location]).toEqual([303, '/device?done=approve'])
    expect((await one.get('/device?done=approve')).text).toContain('Device approved')
    expect((await askForToken(app, device_code)).body.scope).toBe('api:read mcp:use')
  })

  test('denies, and answers the same for every code that no device waits under', async () => {
    const { one } = await signedIn()
    const { device_code, user_code } = await askForCode(app)
    expect((await one.send('/device', { code: user_code, decision: 'deny' })).location).toBe('/device?done=deny')
    expect((await askForToken(app, device_code)).body.error).toBe('access_denied')
    for (const code of [user_code, 'BCDF-GHJK', 'x', 'x'.repeat(500)]) {
      const { status, text } = await one.get(`/device?code=${code}`)
      expect([code.length, status >= 400 && status < 500, text]).toEqual([
        code.length,
        true,
        expect.stringContaining('<a href="#code">No device is waiting'),
      ])
    }
    for (const done of ['__proto__', 'constructor', 'other']) expect((await one.get(`/device?done=${done}`)).status).toBe(200)
  })

  test('asks again after the session has renewed itself', async () => {
    const { one } = await signedIn()
    const { device_code, user_code } = await askForCode(app)
    ageAccess(one)
    const reply = await one.send('/device', { code: user_code, decision: 'approve' })
    expect(reply.location).toBe(`${CONTINUE}?next=${encodeURIComponent(`/device?code=${user_code}`)}`)
    expect((await askForToken(app, device_code)).body.error).toBe('authorization_pending')
  })

  test('lets its person choose a workspace, and decides only in the one it showed', async () => {
    const { one, email } = await signedIn()
    const tenantId = await createWorkspace(app.workplace.db, 'Second')
    await joinAs(app, { tenantId, email })
    const { device_code, user_code } = await askForCode(app)
    expect((await one.get(`/device?code=${user_code}`)).text).toContain(`<option value="${tenantId}">Second</option>`)
    expect((await one.send('/device', { code: user_code, move_to: tenantId })).location).toBe(`/device?code=${user_code}`)
    const stale = await one.send('/device', { code: user_code, workspace_id: app.tenantId, decision: 'approve' })
    expect([stale.status, stale.text]).toEqual([409, expect.stringContaining('switched to another workspace: review the request again')])
    await one.send('/device', { code: user_code, workspace_id: tenantId, decision: 'approve' })
    expect((await askForToken(app, device_code)).body.workspace).toEqual({ id: tenantId, name: 'Second' })
  })

  test('writes names, emails and addresses as text, whatever they contain', async () => {
    const hostile = `"><script>alert(1)</script><img src=x onerror='alert(2)'>&amp;`
    const tenantId = await createWorkspace(app.workplace.db, hostile)
    const token = await inviteTo(app, { tenantId })
    const one = visitor()
    const texts = [(await one.get(`/join?token=${token}`)).text]
    texts.push((await one.send('/join', { token, email: hostile, password: 'short', name: hostile })).text)
    await one.send('/join', { token, email: `${Bun.randomUUIDv7()}@example.com`, password: PASSWORD, name: hostile })
    texts.push((await one.get('/')).text)
    const { user_code } = await askForCode(app, { device_name: hostile })
    texts.push((await one.get(`/device?code=${user_code}`)).text)
    texts.push((await one.get(`/device?code=${encodeURIComponent(hostile)}`)).text)
    texts.push((await visitor().send('/sign-in', { email: hostile, password: hostile, next: hostile })).text)
    for (const text of texts) {
      expect(text).not.toMatch(/<script|<img|onerror='/i)
      expect(text).toContain('&lt;script&gt;')
    }
    expect(texts[3]).toContain('&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt;&lt;img src=x onerror=&#39;alert(2)&#39;&gt;&amp;amp;')
  })
})
