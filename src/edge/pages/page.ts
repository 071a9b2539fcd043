/** How a page answers: who is looking, the operations behind it, and what becomes of errors. */
import { AppError } from '#kernel/errors'
import type { Bound } from '#ops/bind'
import type { Identity, Visit } from '#ops/call'
import type { SessionGrant } from '#store/app/sessions'
import type { Db } from '#store/engine/db'
import type { Incoming } from '../incoming.ts'
import { type Form, FormError, type Route, readForm } from '../route.ts'
import { type ServeDeps, visitOf } from '../serve.ts'
import { html } from './html.ts'
import { goTo, pageResponse, problemsOf, retryHeaders, statusOf } from './layout.ts'

export interface PageDeps extends ServeDeps {
  operations: Bound[]
  db: Db
  identity: Identity
}

/** Where an access token that is too old is made anew: the refresh token comes here alone. */
export const CONTINUE_PATH = '/api/v1/app/session/continue'

/** A place of our own to go on to; the start page for every other address. */
export const ownPlace = (next: string | null | undefined): string => {
  const base = 'http://own.invalid'
  const url = next?.startsWith('/') ? URL.parse(next, base) : null
  return url?.origin === base && url.username === '' && !url.pathname.startsWith('//') ? `${url.pathname}${url.search}` : '/'
}

const withNext = (path: string, next: string): string => (next === '/' ? path : `${path}?next=${encodeURIComponent(next)}`)

export const signInPath = (next: string): string => withNext('/sign-in', next)

export const queryOf = ({ request }: Incoming): URLSearchParams => new URL(request.url).searchParams

/** Who is signed in, by cookie; nobody else has pages. */
export const signedInPerson = async ({ authenticator, cookies }: PageDeps, incoming: Incoming): Promise<SessionGrant | undefined> => {
  const { request } = incoming
  if (cookies.access(request) === undefined || request.headers.has('authorization')) return undefined
  try {
    return (await authenticator.authenticate(incoming)).session
  } catch (cause) {
    if (AppError.from(cause).code === 'unauthenticated') return undefined
    throw cause
  }
}

/** To where somebody who is not signed in comes in, or goes on with a session whose access token is too old; and back to `next`. */
export const toSignIn = ({ cookies }: PageDeps, { request }: Incoming, next: string): Response =>
  goTo(cookies.access(request) ? withNext(CONTINUE_PATH, next) : signInPath(next))

/** The fields of a form. Throws `forbidden` for one that no page of ours has sent: it may sign nobody in, nor decide anything. */
export const ownForm = async ({ origins }: PageDeps, incoming: Incoming): Promise<Form> => {
  if (!origins.isSurelyOurs(incoming.request))
    throw new AppError('forbidden', 'this form did not come from a page of this deployment: open the page and try again')
  try {
    return await readForm(incoming)
  } catch (cause) {
    throw cause instanceof FormError ? new AppError('invalid_input', cause.message) : cause
  }
}

export interface Entered {
  // biome-ignore lint/suspicious/noExplicitAny: the operation has checked its answer against the contract
  body: any
  /** To be set. */
  cookies: string[]
}

/** Calls an operation of no workspace, as a request of the API does. */
export const enter = async (deps: PageDeps, incoming: Incoming, call: { id: string; input: object }): Promise<Entered> => {
  const o = deps.operations.find((one) => one.id === call.id)
  if (!o || !('enter' in o)) throw new Error(`pages cannot call ${call.id}`)
  const visit: Visit = await visitOf(deps, o, incoming)
  const { body, keep } = await o.enter(() => call.input, visit)
  return { body: JSON.parse(body), cookies: keep ? deps.cookies.setting(keep) : [] }
}

type Respond = (deps: PageDeps, incoming: Incoming) => Promise<Response>

const failed = (deps: PageDeps, incoming: Incoming, cause: unknown): Response => {
  const error = AppError.from(cause)
  if (error.code === 'unauthenticated') return toSignIn(deps, incoming, ownPlace(new URL(incoming.request.url).pathname))
  if (error.status >= 500) deps.log.error({ err: error.cause ?? error }, 'a page failed')
  const body = html`<p><a href="/">To the start page</a></p>`
  return pageResponse({
    title: 'This did not work',
    body,
    status: statusOf(error),
    problems: problemsOf(error, {}),
    headers: retryHeaders(error),
  })
}

/** A route whose errors are pages too. */
export const pageRoute = (deps: PageDeps, method: Route['method'], path: string, respond: Respond): Route => ({
  method,
  path,
  respond: (incoming) => respond(deps, incoming).catch((cause) => failed(deps, incoming, cause)),
})
