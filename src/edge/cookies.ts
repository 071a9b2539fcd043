/** The cookies of signed-in browsers: HttpOnly and SameSite. */
import { parseCookie, type SerializeOptions, stringifySetCookie } from 'cookie'
import type { SessionCookies } from '#ops/engine/call'

export interface Cookies {
  /** The access token of a request. */
  access(request: Request): string | undefined
  refresh(request: Request): string | undefined
  /** The token of a browser in which somebody has signed in before. */
  browser(request: Request): string | undefined
  /** `Set-Cookie` values that store the tokens, or, for `clear`, delete the stored ones. */
  setting(tokens: SessionCookies | 'clear', now?: Date): string[]
}

/** Browsers send the refresh token to this path only. */
const REFRESH_PATH = '/api/v1/app/session'

const cookieOf = (request: Request, name: string): string | undefined =>
  parseCookie(request.headers.get('cookie') ?? '')[name]

/**
 * With https, `__Host-` and `__Secure-` keep sibling hosts from setting our cookies. Browsers
 * refuse the prefixes over http.
 */
export const createCookies = (publicUrl: string): Cookies => {
  const secure = publicUrl.startsWith('https:')
  const accessName = secure ? '__Host-tendril' : 'tendril'
  const refreshName = secure ? '__Secure-tendril-refresh' : 'tendril-refresh'
  const browserName = secure ? '__Host-tendril-browser' : 'tendril-browser'
  const set = (name: string, value: string, rest: SerializeOptions): string =>
    stringifySetCookie({ path: '/', ...rest, name, value, secure, httpOnly: true })
  return {
    access: (request) => cookieOf(request, accessName),
    refresh: (request) => cookieOf(request, refreshName),
    browser: (request) => cookieOf(request, browserName),
    setting(tokens, now = new Date()) {
      const stored: SessionCookies =
        tokens === 'clear' ? { access: '', refresh: '', expiresAt: now } : tokens
      const { access, refresh, browser } = stored
      const secondsUntil = (at: Date): number =>
        Math.max(0, Math.floor((at.getTime() - now.getTime()) / 1_000))
      const maxAge = secondsUntil(stored.expiresAt)
      return [
        set(accessName, access, { sameSite: 'lax', maxAge }),
        ...(refresh === undefined
          ? []
          : [set(refreshName, refresh, { path: REFRESH_PATH, sameSite: 'strict', maxAge })]),
        ...(browser
          ? [
              set(browserName, browser.token, {
                sameSite: 'strict',
                maxAge: secondsUntil(browser.expiresAt),
              }),
            ]
          : []),
      ]
    },
  }
}
