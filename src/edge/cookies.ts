/** The cookies of signed-in browsers: out of reach of scripts, and sent by our own pages alone. */
import { parseCookie, type SerializeOptions, stringifySetCookie } from 'cookie'
import type { SessionCookies } from '#ops/call'

export interface Cookies {
  /** The access token of a request, if it brings one. */
  access(request: Request): string | undefined
  refresh(request: Request): string | undefined
  /** By what a browser is known in which somebody has signed in before. */
  browser(request: Request): string | undefined
  /** `Set-Cookie` values: for tokens to be kept, or for those there are to be forgotten. */
  setting(keep: SessionCookies | 'nothing', now?: Date): string[]
}

/** The refresh token goes nowhere but to where it is spent. */
const REFRESH_PATH = '/api/v1/app/session'

const cookieOf = (request: Request, name: string): string | undefined => parseCookie(request.headers.get('cookie') ?? '')[name]

/** The prefixes bind a cookie to this very host by https: no neighbour can set it. Browsers refuse them by plain http. */
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
    setting(keep, now = new Date()) {
      const kept: SessionCookies = keep === 'nothing' ? { access: '', refresh: '', expiresAt: now } : keep
      const { access, refresh, browser } = kept
      const secondsUntil = (at: Date): number => Math.max(0, Math.floor((at.getTime() - now.getTime()) / 1_000))
      const maxAge = secondsUntil(kept.expiresAt)
      return [
        set(accessName, access, { sameSite: 'lax', maxAge }),
        ...(refresh === undefined ? [] : [set(refreshName, refresh, { path: REFRESH_PATH, sameSite: 'strict', maxAge })]),
        ...(browser ? [set(browserName, browser.token, { sameSite: 'strict', maxAge: secondsUntil(browser.expiresAt) })] : []),
      ]
    },
  }
}
