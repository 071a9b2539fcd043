/**
 * The pages as a browser requests them: who can see them, where signing in leads, and what other
 * pages cannot make them do.
 */
import { afterEach, describe, expect, test } from 'bun:test'
import { testApp } from '#test/support/app'
import { createVisitor, signedInVisitor, signInOnPage } from '#test/support/http/visitor'
import { forgetAttempts, joinAs, PASSWORD } from '#test/support/people'
import { useApp } from '#test/support/use'

const app = useApp()
afterEach(() => forgetAttempts(app))

const PAGES = ['/', '/sign-in', '/join', '/device']
const CONTINUE = '/api/v1/app/session/continue'
const visitor = () => createVisitor(app)

describe('every page', () => {
  test.each(PAGES)(
    '%s runs no script, and cannot be framed, cached or leaked in a referrer',
    async (path) => {
      const { headers, text } = await visitor().get(path)
      if (headers.has('content-security-policy')) {
        const policy = headers.get('content-security-policy')!
        for (const rule of [
          "default-src 'none'",
          "form-action 'self'",
          "frame-ancestors 'none'",
          "base-uri 'none'",
        ])
          expect(policy).toContain(rule)
        expect(policy).not.toContain('unsafe')
        expect(policy).not.toContain('script-src')
        expect([headers.get('x-frame-options'), headers.get('x-content-type-options')]).toEqual([
          'DENY',
          'nosniff',
        ])
        expect(text).not.toMatch(/<script|<img|<link|\son\w+=|style="/i)
        expect(text).toStartWith('<!doctype html>\n<html lang="en">')
      } else expect([path, headers.get('location')]).toEqual(['/device', '/sign-in?next=%2Fdevice'])
      expect([headers.get('cache-control'), headers.get('referrer-policy')]).toEqual([
        'no-store',
        'same-origin',
      ])
    },
  )

  test.each([...PAGES, '/reset'])('%s takes no form that another page submits', async (path) => {
    const { one } = await signedInVisitor(app)
    const before = new Map(one.cookies)
    const foreign = [
      {},
      { origin: 'https://evil.example' },
      { origin: 'null' },
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site' },
    ]
    for (const headers of foreign) {
      const {
        status,
        text,
        headers: sent,
      } = await one.send(path, { email: 'x@example.com', password: PASSWORD }, headers as never)
      expect([status, sent.getSetCookie()]).toEqual([403, []])
      expect(text).toContain('did not come from a page of this deployment')
    }
    expect(one.cookies).toEqual(before)
    expect((await one.get('/')).text).toContain('Sign out')
  })

  test('answers a request that is not a form with a page that says so', async () => {
    const reply = await visitor().send(
      '/sign-in',
      {},
      { origin: app.url, 'content-type': 'application/json' },
    )
    expect([reply.status, reply.headers.get('content-type')]).toEqual([
      400,
      'text/html; charset=utf-8',
    ])
  })
})

describe('signing in on the page', () => {
  test('leads to the requested page, with new cookies', async () => {
    const { email } = await joinAs(app)
    const one = visitor()
    one.cookies.set('tendril', { value: 'planted', path: '/' })
    const reply = await signInOnPage(one, email, { next: '/device?code=BCDF-GHJK' })
    expect([reply.status, reply.location]).toEqual([303, '/device?code=BCDF-GHJK'])
    expect(one.cookies.get('tendril')!.value).not.toBe('planted')
    expect((await one.get('/')).text).toContain(email)
    expect((await one.get('/sign-in?next=/device')).location).toBe('/device')
  })

  test('starts a new session instead of using one that was planted', async () => {
    const [attacker, victim] = [await signedInVisitor(app), await joinAs(app)]
    const one = visitor()
    one.cookies.set('tendril', attacker.one.cookies.get('tendril')!)
    const planted = one.cookies.get('tendril')!.value
    await signInOnPage(one, victim.email)
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
    const location = (await signInOnPage(one, email, { next })).location!
    expect(new URL(location, app.url).origin).toBe(app.url)
    expect(location).toMatch(/^\/(?![/\\])/)
    const again = (await one.get(`/sign-in?next=${encodeURIComponent(next)}`)).location!
    const further = (await one.get(`${CONTINUE}?next=${encodeURIComponent(next)}`)).location!
    for (const place of [again, further]) expect(new URL(place, app.url).origin).toBe(app.url)
  })

  test('explains a refusal beside the form, in the same words for every account, and keeps the email', async () => {
    const { email } = await joinAs(app)
    for (const account of [email, 'nobody@example.com']) {
      const { status, text } = await visitor().send('/sign-in', {
        email: account,
        password: 'wrong',
      })
      expect(status).toBe(400)
      expect(text).toContain('<title>Error: Sign in · Tendril</title>')
      expect(text).toContain('<li>The email or the password is wrong.</li>')
      expect(text).toContain(`value="${account}"`)
      expect(text).not.toContain('value="wrong"')
    }
    const { text } = await visitor().send('/sign-in', { email: 'no email', password: 'x' })
    expect(text).toContain('<li><a href="#email">Email')
    expect(text).toMatch(
      /<input id="email"[^>]* aria-describedby="email-wrong" aria-invalid="true">/,
    )
  })

  test('behind https, sets cookies that no sibling domain can set, and takes forms from the public address', async () => {
    const publicUrl = 'https://tendril.example.com'
    await using secure = await testApp({ database: app.options, env: { PUBLIC_URL: publicUrl } })
    const { email } = await joinAs(app)
    const one = createVisitor(secure)
    const reply = await one.send('/sign-in', { email, password: PASSWORD }, { origin: publicUrl })
    expect([reply.status, [...one.cookies.keys()]]).toEqual([
      303,
      ['__Host-tendril', '__Secure-tendril-refresh', '__Host-tendril-browser'],
    ])
    for (const cookie of reply.headers.getSetCookie())
      expect(cookie).toMatch(/; HttpOnly; Secure; SameSite=(Lax|Strict)$/)
    expect((await one.get('/')).text).toContain(email)
    expect((await one.send('/', {}, { origin: 'http://tendril.example.com' })).status).toBe(403)
  })

  test('is rate-limited, and says for how long', async () => {
    const { email } = await joinAs(app)
    for (let tries = 0; tries < 10; tries++)
      await visitor().send('/sign-in', { email, password: 'wrong' })
    const { status, text, headers } = await signInOnPage(visitor(), email)
    expect([status, headers.has('retry-after')]).toEqual([429, true])
    expect(text).toContain('Too many attempts. Try again in 15 minutes.')
  })

  test('signing out on the page ends the session', async () => {
    const { one, email } = await signedInVisitor(app)
    expect((await one.send('/', {})).location).toBe('/')
    expect([[...one.cookies.keys()], (await one.get('/')).text.includes(email)]).toEqual([
      ['tendril-browser'],
      false,
    ])
  })
})
