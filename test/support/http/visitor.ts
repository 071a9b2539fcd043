/**
 * A browser as a server sees it: cookies by path, and an Origin with forms. Redirects are left to
 * the test.
 */
import { parseSetCookie } from 'cookie'
import type { TestApp } from '../app.ts'
import { joinAs, PASSWORD } from '../people.ts'

interface Seen {
  status: number
  location: string | null
  headers: Headers
  text: string
}

export interface Visitor {
  cookies: Map<string, { value: string; path: string }>
  get(path: string, headers?: Record<string, string>): Promise<Seen>
  /** Submits a form as a page of this server does, unless the headers differ. */
  send(path: string, form: Record<string, string>, headers?: Record<string, string>): Promise<Seen>
}

export const createVisitor = (app: TestApp): Visitor => {
  const cookies: Visitor['cookies'] = new Map()
  const cookieFor = (path: string): string =>
    [...cookies]
      .flatMap(([name, one]) => (path.startsWith(one.path) ? [`${name}=${one.value}`] : []))
      .join('; ')
  const go = async (path: string, init: RequestInit): Promise<Seen> => {
    const headers = {
      ...(cookies.size > 0 ? { cookie: cookieFor(path) } : {}),
      ...(init.headers as Record<string, string>),
    }
    const response = await fetch(`${app.url}${path}`, { ...init, headers, redirect: 'manual' })
    for (const cookie of response.headers.getSetCookie()) {
      const { name, value = '', path: at, maxAge } = parseSetCookie(cookie)
      if (at === undefined || maxAge === undefined)
        throw new Error(`a cookie without a path or an end: ${cookie}`)
      if (maxAge === 0) cookies.delete(name)
      else cookies.set(name, { value, path: at })
    }
    return {
      status: response.status,
      location: response.headers.get('location'),
      headers: response.headers,
      text: await response.text(),
    }
  }
  return {
    cookies,
    get: (path, headers = {}) => go(path, { headers }),
    send: (path, form, headers = { origin: app.url }) =>
      go(path, {
        method: 'POST',
        body: new URLSearchParams(form).toString(),
        headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
      }),
  }
}

export const signInOnPage = (
  one: Visitor,
  email: string,
  more: Record<string, string> = {},
): Promise<Seen> => one.send('/sign-in', { email, password: PASSWORD, ...more })

/** A person who joins a workspace, and signs in on the page. */
export const signedInVisitor = async (app: TestApp, options: Parameters<typeof joinAs>[1] = {}) => {
  const person = await joinAs(app, options)
  const one = createVisitor(app)
  await signInOnPage(one, person.email)
  return { ...person, one }
}

/** Replaces the access token by one that is no longer valid. */
export const ageAccess = ({ cookies }: Visitor) =>
  cookies.set('tendril', { value: 'too.old.token', path: '/' })
