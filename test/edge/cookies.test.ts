import { describe, expect, test } from 'bun:test'
import { createCookies } from '#edge/cookies'

const plain = createCookies('http://localhost:7070')
const secure = createCookies('https://tendril.example.com')
const requestWith = (cookie: string): Request =>
  new Request('http://localhost/', { headers: { cookie } })

describe('a cookie is found', () => {
  test.each([
    ['alone', 'tendril=a.b-c_d', 'a.b-c_d'],
    ['among others', 'theme=dark; tendril=a.b; x=y', 'a.b'],
    ['without spaces between', 'theme=dark;tendril=a.b;x=y', 'a.b'],
    ['with spaces around it', ' tendril = a.b ; x=y', 'a.b'],
    ['with an equals sign in it', 'tendril=a=b=', 'a=b='],
    ['the first of two', 'tendril=first; tendril=second', 'first'],
    ['after malformed parts', 'theme; =; ;; tendril=a.b', 'a.b'],
    ['when it is empty', 'tendril=', ''],
  ])('%s', (_, header, found) => {
    expect(plain.access(requestWith(header))).toBe(found)
  })

  test.each(['', 'tendril', 'tendril-refresh=a', 'xtendril=a', 'TENDRIL=a', '__proto__=tendril'])(
    'and is not found in %p',
    (header) => {
      expect(plain.access(requestWith(header))).toBeUndefined()
    },
  )

  test('by the name that its protocol gives it', () => {
    const request = requestWith(
      'tendril=planted; __Host-tendril=a; __Secure-tendril-refresh=r; __Host-tendril-browser=b',
    )
    expect([secure.access(request), secure.refresh(request), secure.browser(request)]).toEqual([
      'a',
      'r',
      'b',
    ])
    expect([plain.access(request), plain.refresh(request), plain.browser(request)]).toEqual([
      'planted',
      undefined,
      undefined,
    ])
  })

  test('in no request without the header', () => {
    expect(plain.access(new Request('http://localhost/'))).toBeUndefined()
  })
})

const now = new Date('2026-06-01T00:00:00Z')
const later = (seconds: number) => new Date(now.getTime() + seconds * 1_000)

describe('cookies are set', () => {
  test('over https for this host only, each with its own expiry', () => {
    const browser = { token: 'br_token', expiresAt: later(31_536_000) }
    expect(
      secure.setting({ access: 'a.b.c', refresh: 'r.s', expiresAt: later(3_600.9), browser }, now),
    ).toEqual([
      '__Host-tendril=a.b.c; Max-Age=3600; Path=/; HttpOnly; Secure; SameSite=Lax',
      '__Secure-tendril-refresh=r.s; Max-Age=3600; Path=/api/v1/app/session; HttpOnly; Secure; SameSite=Strict',
      '__Host-tendril-browser=br_token; Max-Age=31536000; Path=/; HttpOnly; Secure; SameSite=Strict',
    ])
  })

  test('without a refresh token, which leaves the one there is', () => {
    expect(plain.setting({ access: 'a', expiresAt: later(60) }, now)).toEqual([
      'tendril=a; Max-Age=60; Path=/; HttpOnly; SameSite=Lax',
    ])
  })

  test('to nothing, which removes both tokens and keeps the browser known', () => {
    expect(plain.setting('clear', now)).toEqual([
      'tendril=; Max-Age=0; Path=/; HttpOnly; SameSite=Lax',
      'tendril-refresh=; Max-Age=0; Path=/api/v1/app/session; HttpOnly; SameSite=Strict',
    ])
  })

  test('with a Max-Age of no less than zero', () => {
    expect(plain.setting({ access: 'a', expiresAt: later(-5) }, now)[0]).toContain('; Max-Age=0;')
  })
})
