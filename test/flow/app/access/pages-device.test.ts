/**
 * The pages on which a person joins a workspace and decides on a device, as a browser requests
 * them.
 */
import { afterEach, describe, expect, test } from 'bun:test'
import { createWorkspace } from '#ops/operator/admin/workspaces'
import { ageAccess, createVisitor, signedInVisitor, signInOnPage } from '#test/support/http/visitor'
import {
  askForCode,
  askForToken,
  forgetAttempts,
  inviteTo,
  joinAs,
  PASSWORD,
} from '#test/support/people'
import { useApp } from '#test/support/use'

const app = useApp()
afterEach(() => forgetAttempts(app))

const CONTINUE = '/api/v1/app/session/continue'
const visitor = () => createVisitor(app)

describe('joining on the page', () => {
  test('shows the workspace and the role, and signs in the new member', async () => {
    const token = await inviteTo(app, { role: 'editor' })
    const one = visitor()
    const shown = await one.get(`/join?token=${token}`)
    expect(shown.text).toContain('<dd>Test</dd>')
    expect(shown.text).toContain('Editor')
    const short = await one.send('/join', {
      token,
      email: 'new@example.com',
      password: 'short',
      name: 'N',
    })
    expect([short.status, short.text]).toEqual([
      400,
      expect.stringContaining('<a href="#password">Password'),
    ])
    expect(short.text).toContain('value="new@example.com"')
    const joined = await one.send('/join', {
      token,
      email: 'new@example.com',
      password: PASSWORD,
      name: 'New One',
    })
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
    await signInOnPage(one, email)
    const { text } = await one.get(`/device?code=${user_code}`)
    for (const shown of [
      user_code,
      'build machine',
      '127.0.0.1',
      '<dd>Test</dd>',
      'Viewer',
      'your role cannot grant this',
    ])
      expect(text).toContain(shown)
    const decided = await one.send('/device', {
      code: user_code,
      workspace_id: app.tenantId,
      decision: 'approve',
    })
    expect([decided.status, decided.location]).toEqual([303, '/device?done=approve'])
    expect((await one.get('/device?done=approve')).text).toContain('Device approved')
    expect((await askForToken(app, device_code)).body.scope).toBe('api:read mcp:use')
  })

  test('denies, and answers the same for every code that no device waits under', async () => {
    const { one } = await signedInVisitor(app)
    const { device_code, user_code } = await askForCode(app)
    expect((await one.send('/device', { code: user_code, decision: 'deny' })).location).toBe(
      '/device?done=deny',
    )
    expect((await askForToken(app, device_code)).body.error).toBe('access_denied')
    for (const code of [user_code, 'BCDF-GHJK', 'x', 'x'.repeat(500)]) {
      const { status, text } = await one.get(`/device?code=${code}`)
      expect([code.length, status >= 400 && status < 500, text]).toEqual([
        code.length,
        true,
        expect.stringContaining('<a href="#code">No device is waiting'),
      ])
    }
    for (const done of ['__proto__', 'constructor', 'other'])
      expect((await one.get(`/device?done=${done}`)).status).toBe(200)
  })

  test('asks again after the session has renewed itself', async () => {
    const { one } = await signedInVisitor(app)
    const { device_code, user_code } = await askForCode(app)
    ageAccess(one)
    const reply = await one.send('/device', { code: user_code, decision: 'approve' })
    expect(reply.location).toBe(
      `${CONTINUE}?next=${encodeURIComponent(`/device?code=${user_code}`)}`,
    )
    expect((await askForToken(app, device_code)).body.error).toBe('authorization_pending')
  })

  test('lets its person choose a workspace, and decides only in the one it showed', async () => {
    const { one, email } = await signedInVisitor(app)
    const tenantId = await createWorkspace(app.workplace.db, 'Second')
    await joinAs(app, { tenantId, email })
    const { device_code, user_code } = await askForCode(app)
    expect((await one.get(`/device?code=${user_code}`)).text).toContain(
      `<option value="${tenantId}">Second</option>`,
    )
    expect((await one.send('/device', { code: user_code, move_to: tenantId })).location).toBe(
      `/device?code=${user_code}`,
    )
    const stale = await one.send('/device', {
      code: user_code,
      workspace_id: app.tenantId,
      decision: 'approve',
    })
    expect([stale.status, stale.text]).toEqual([
      409,
      expect.stringContaining('switched to another workspace: review the request again'),
    ])
    await one.send('/device', { code: user_code, workspace_id: tenantId, decision: 'approve' })
    expect((await askForToken(app, device_code)).body.workspace).toEqual({
      id: tenantId,
      name: 'Second',
    })
  })

  test('writes names, emails and addresses as text, whatever they contain', async () => {
    const hostile = `"><script>alert(1)</script><img src=x onerror='alert(2)'>&amp;`
    const tenantId = await createWorkspace(app.workplace.db, hostile)
    const token = await inviteTo(app, { tenantId })
    const one = visitor()
    const texts = [(await one.get(`/join?token=${token}`)).text]
    texts.push(
      (await one.send('/join', { token, email: hostile, password: 'short', name: hostile })).text,
    )
    await one.send('/join', {
      token,
      email: `${Bun.randomUUIDv7()}@example.com`,
      password: PASSWORD,
      name: hostile,
    })
    texts.push((await one.get('/')).text)
    const { user_code } = await askForCode(app, { device_name: hostile })
    texts.push((await one.get(`/device?code=${user_code}`)).text)
    texts.push((await one.get(`/device?code=${encodeURIComponent(hostile)}`)).text)
    texts.push(
      (await visitor().send('/sign-in', { email: hostile, password: hostile, next: hostile })).text,
    )
    for (const text of texts) {
      expect(text).not.toMatch(/<script|<img|onerror='/i)
      expect(text).toContain('&lt;script&gt;')
    }
    expect(texts[3]).toContain(
      '&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt;&lt;img src=x onerror=&#39;alert(2)&#39;&gt;&amp;amp;',
    )
  })
})
