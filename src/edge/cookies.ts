/** The cookies of signed-in browsers: out of reach of scripts, and sent by our own pages alone. */
import type { Kept } from '#ops/call'

export interface Cookies {
  /** The access token of a request, if it brings one. */
  access(request: Request): string | undefined
  refresh(request: Request): string | undefined
  /** By what a browser is known in which somebody has signed in before. */
  browser(request: Request): string | undefined
  /** `Set-Cookie` values: for tokens to be kept, or for those there are to be forgotten. */
  setting(keep: Kept | 'nothing', now?: Date): string[]
}

/** The refresh token goes nowhere but to where it is spent. */
const REFRESH_PATH = '/api/v1/app/session'

const cookieOf = (request: Request, name: string): string | undefined => {
  for (const part of (request.headers.get('cookie') ?? '').split(';')) {
    const at = part.indexOf('=')
    if (at > 0 && part.slice(0, at).trim() === name) return part.slice(at + 1).trim()
  }
  return undefined
}

/** The prefixes bind a cookie to this very host by https: no neighbour can set it. Browsers refuse them by plain http. */
export const createCookies = (publicUrl: string): Cookies => {
  const secure = publicUrl.startsWith('https:')
  const accessName = secure ? '__Host-tendril' : 'tendril'
  const refreshName = secure ? '__Secure-tendril-refresh' : 'tendril-refresh'
  const browserName = secure ? '__Host-tendril-browser' : 'tendril-browser'
  const end = secure ? '; HttpOnly; Secure' : '; HttpOnly'
  const set = (name: string, value: string, rest: string): string => `${name}=${value}; ${rest}${end}`
  return {
    access: (request) => cookieOf(request, accessName),
    refresh: (request) => cookieOf(request, refreshName),
    browser: (request) => cookieOf(request, browserName),
    setting(keep, now = new Date()) {
      const kept: Kept = keep === 'nothing' ? { access: '', refresh: '', expiresAt: now } : keep
      const { access, refresh, browser } = kept
      const until = (at: Date): string => `Max-Age=${Math.max(0, Math.floor((at.getTime() - now.getTime()) / 1_000))}`
      const lasts = until(kept.expiresAt)
      return [
        set(accessName, access, `Path=/; SameSite=Lax; ${lasts}`),
        ...(refresh === undefined ? [] : [set(refreshName, refresh, `Path=${REFRESH_PATH}; SameSite=Strict; ${lasts}`)]),
        ...(browser ? [set(browserName, browser.token, `Path=/; SameSite=Strict; ${until(browser.expiresAt)}`)] : []),
      ]
    },
  }
}
