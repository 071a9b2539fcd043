/** Cookies between replies and requests, for tests that look at them; a visitor keeps its own. */
import { parseSetCookie } from 'cookie'
import type { Reply } from '../app.ts'

/** The cookies that a reply sets, by name. */
export const cookiesOf = ({ headers }: Pick<Reply, 'headers'>): Map<string, string> =>
  new Map(
    headers
      .getSetCookie()
      .map((line) => parseSetCookie(line))
      .map(({ name, value = '' }) => [name, value]),
  )

/** The Cookie header that returns them. */
export const cookieHeader = (cookies: Map<string, string>): string =>
  [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
