/** What pages share on the server side: the signed-in person, calls of operations, and errors. */
import { AppError } from '#kernel/errors'
import { type Bound, workspaceOperations } from '#ops/engine/bind'
import type { Identity, Visit } from '#ops/engine/call'
import type { SessionGrant } from '#store/app/sessions'
import type { Db } from '#store/engine/db'
import type { ConsoleState } from '../console/bundle.ts'
import type { BodyTerms, Incoming } from '../incoming.ts'
import { requestIdOf } from '../respond.ts'
import { type Form, FormError, type Route, readForm } from '../route.ts'
import { callOf, type ServeDeps, visitOf } from '../serve.ts'
import { html } from './html.ts'
import { pageResponse, pageStatus, problemsOf, redirect, retryHeaders } from './layout.ts'

export interface PageDeps extends ServeDeps {
  operations: Bound[]
  /** Operations that no surface offers. */
  internal: Bound[]
  db: Db
  identity: Identity
  /** Asked anew for each request, because the console may still be being built. */
  console(): ConsoleState
}

/**
 * Renews an expired access token. Its path is below the one that the refresh cookie is limited to.
 */
export const CONTINUE_PATH = '/api/v1/app/session/continue'

/**
 * `next` if it is a path of this deployment, otherwise the start page. This prevents open
 * redirects.
 */
export const safePath = (next: string | null | undefined): string => {
  const base = 'http://own.invalid'
  const url = next?.startsWith('/') ? URL.parse(next, base) : null
  return url?.origin === base && url.username === '' && !url.pathname.startsWith('//')
    ? `${url.pathname}${url.search}`
    : '/'
}

const withNext = (path: string, next: string): string =>
  next === '/' ? path : `${path}?next=${encodeURIComponent(next)}`

export const signInPath = (next: string): string => withNext('/sign-in', next)

export const queryOf = ({ request }: Incoming): URLSearchParams => new URL(request.url).searchParams

/** The person signed in by cookie. Pages ignore other credentials. */
export const signedInPerson = async (
  { authenticator, cookies }: PageDeps,
  incoming: Incoming,
): Promise<SessionGrant | undefined> => {
  const { request } = incoming
  if (cookies.access(request) === undefined || request.headers.has('authorization'))
    return undefined
  try {
    return (await authenticator.authenticate(incoming)).session
  } catch (cause) {
    if (AppError.from(cause).code === 'unauthenticated') return undefined
    throw cause
  }
}

/**
 * Redirects to the sign-in page or, if there is an expired access token, to its renewal. Both lead
 * back to `next`.
 */
export const toSignIn = ({ cookies }: PageDeps, { request }: Incoming, next: string): Response =>
  redirect(cookies.access(request) ? withNext(CONTINUE_PATH, next) : signInPath(next))

/**
 * The fields of a form. Throws `forbidden` if none of our pages sent it (CSRF), and `invalid_input`
 * if it is malformed.
 */
export const trustedForm = async (
  { origins, identity }: PageDeps,
  incoming: Incoming,
  terms?: BodyTerms,
): Promise<Form> => {
  if (!origins.isSurelyOurs(incoming.request))
    throw new AppError(
      'forbidden',
      `this form did not come from a page of this deployment: open ${identity.publicUrl} and try again there`,
    )
  try {
    return await readForm(incoming, terms)
  } catch (cause) {
    throw cause instanceof FormError ? new AppError('invalid_input', cause.message) : cause
  }
}

export interface EnterResult {
  // biome-ignore lint/suspicious/noExplicitAny: the operation has checked its answer against the contract
  body: any
  /** `Set-Cookie` values. */
  cookies: string[]
}

/** Calls an operation that belongs to no workspace, with the same checks as over REST. */
export const enter = async (
  deps: PageDeps,
  incoming: Incoming,
  call: { id: string; input: object },
): Promise<EnterResult> => {
  const o = deps.operations.find((one) => one.id === call.id)
  if (!o || !('enter' in o)) throw new Error(`pages cannot call ${call.id}`)
  const visit: Visit = await visitOf(deps, o, incoming)
  const { body, cookies } = await o.enter(() => call.input, visit)
  return { body: JSON.parse(body), cookies: cookies ? deps.cookies.setting(cookies) : [] }
}

/**
 * Calls an operation on the workspace of the signed-in person, with the same checks as over REST.
 * Returns its answer.
 */
export const run = async (
  deps: PageDeps,
  incoming: Incoming,
  { id, input }: { id: string; input: object },
  // biome-ignore lint/suspicious/noExplicitAny: the operation has checked its answer against the contract
): Promise<any> => {
  const o = workspaceOperations(deps.operations).find((one) => one.id === id)
  if (!o) throw new Error(`pages cannot call ${id}`)
  const caller = await deps.authenticator.authenticate(incoming)
  const { body } = await o.run(() => input, callOf(caller, incoming.request))
  return JSON.parse(body)
}

/**
 * The page of a record. If the id is malformed or names nothing in this workspace, returns the same
 * page for both, which says so.
 */
export const foundPage = async (
  showing: Promise<Response>,
  { workspace }: SessionGrant,
  what: string,
): Promise<Response> => {
  try {
    return await showing
  } catch (cause) {
    const { code } = AppError.from(cause)
    if (code !== 'not_found' && code !== 'invalid_input') throw cause
    const body = html`<p>There is no such ${what} in the workspace ${workspace.name}. If it belongs to another one, sign in there.</p>
<p><a href="/">Go to the start page</a></p>`
    return pageResponse({
      title: `${what.charAt(0).toUpperCase()}${what.slice(1)} not found`,
      body,
      status: 404,
    })
  }
}

type Respond = (deps: PageDeps, incoming: Incoming) => Promise<Response>

const errorPage = (deps: PageDeps, incoming: Incoming, cause: unknown): Response => {
  const error = AppError.from(cause)
  if (error.code === 'unauthenticated')
    return toSignIn(deps, incoming, safePath(new URL(incoming.request.url).pathname))
  if (error.status >= 500)
    deps.log.error(
      { err: error.cause ?? error, code: error.code, request_id: requestIdOf(incoming.request) },
      'a page failed',
    )
  const body = html`<p><a href="/">Go to the start page</a></p>`
  return pageResponse({
    title: 'Something went wrong',
    body,
    status: pageStatus(error),
    problems: problemsOf(error, {}),
    headers: retryHeaders(error),
  })
}

/** A route that shows errors as pages. */
export const pageRoute = (
  deps: PageDeps,
  method: Route['method'],
  path: string,
  respond: Respond,
): Route => ({
  method,
  path,
  respond: (incoming) => respond(deps, incoming).catch((cause) => errorPage(deps, incoming, cause)),
})
