/**
 * The pages between this deployment and a network, for an account that is connected by OAuth: one
 * that leads to the network and shows what became of it, and one to which the network sends back.
 */

import { AppError, fail } from '#kernel/errors'
import { workspaceOperations } from '#ops/engine/bind'
import type { Rates } from '#ops/engine/call'
import {
  authorizationFor,
  idInState,
  leadAuthorization,
  startPath,
} from '#ops/growth/shared/authorizing'
import { endAuthorization, LONGEST_REASON, reasonOf } from '#ops/growth/shared/ending-authorization'
import type { BlueskyNetwork } from '#port/network/bluesky/network'
import { oauthPaths } from '#port/network/bluesky/oauth/client'
import { NetworkError } from '#port/network/network'
import type { BegunAuthorization } from '#store/app/authorizations'
import type { SessionGrant } from '#store/app/sessions'
import type { Incoming } from '../incoming.ts'
import type { Route } from '../route.ts'
import { callOf } from '../serve.ts'
import { type StandingPage, standingBody } from './connecting-body.ts'
import { type Html, html } from './html.ts'
import {
  hiddenField,
  type Problem,
  pageResponse,
  pageStatus,
  problemsOf,
  redirect,
  retryHeaders,
} from './layout.ts'
import {
  enter,
  type PageDeps,
  pageRoute,
  queryOf,
  run,
  signedInPerson,
  toSignIn,
  trustedForm,
} from './page.ts'

export interface ConnectingDeps extends PageDeps {
  bluesky: Pick<BlueskyNetwork, 'oauth'>
  rates: Pick<Rates, 'signIn'>
}

const CALLBACK = oauthPaths.callback

const idOf = ({ params }: Incoming): string => params!.id!

const namesOf = async (
  deps: PageDeps,
  incoming: Incoming,
): Promise<{ id: string; name: string }[]> =>
  (await enter(deps, incoming, { id: 'app.session.get', input: {} })).body.session.workspaces

/** The browser is in another workspace than the one in which the sign-in was begun. */
const elsewhere = async (
  deps: PageDeps,
  incoming: Incoming,
  { begun, person, back }: { begun: BegunAuthorization; person: SessionGrant; back: Html },
): Promise<Response> => {
  const all = await namesOf(deps, incoming)
  const name = all.find(({ id }) => id === begun.tenant_id)?.name
  if (name === undefined)
    fail('forbidden', 'you are no longer a member of the workspace in which you began this')
  return pageResponse({
    title: 'Use another workspace',
    status: 409,
    body: html`<p>You began to connect an account to the workspace ${name}, and your browser is in ${person.workspace.name} now.</p>
<form method="post">
${hiddenField('move_to', begun.tenant_id)}
${back}
<button>Switch to ${name}</button>
</form>`,
  })
}

const moveTo = (deps: PageDeps, incoming: Incoming, workspace: string): Promise<unknown> =>
  enter(deps, incoming, {
    id: 'app.session.switchWorkspace',
    input: { workspace_id: workspace },
  })

const begunBy = ({ db }: PageDeps, person: SessionGrant, id: string): Promise<BegunAuthorization> =>
  authorizationFor(db, { id, personId: person.person.id })

const requireOwner = ({ workspace: { role } }: SessionGrant): void => {
  if (role !== 'owner') fail('forbidden', `only owners connect accounts, and your role is ${role}`)
}

/** Why the person was not led on. */
interface Refusal {
  problems: Problem[]
  status: number
  headers?: Record<string, string>
}

const showStanding = async (
  deps: ConnectingDeps,
  incoming: Incoming,
  {
    begun,
    person,
    refusal,
  }: { begun: BegunAuthorization; person: SessionGrant; refusal?: Refusal },
): Promise<Response> => {
  const { authorization } = await run(deps, incoming, {
    id: 'app.connections.authorization',
    input: { id: begun.id },
  })
  const shown: StandingPage = {
    authorization,
    workspace: person.workspace.name,
    isOnItsWay: begun.is_used,
    isShort: deps.bluesky.oauth.kind === 'loopback',
  }
  return pageResponse({ ...standingBody(shown), ...refusal })
}

const show = async (deps: ConnectingDeps, incoming: Incoming): Promise<Response> => {
  const id = idOf(incoming)
  const person = await signedInPerson(deps, incoming)
  if (!person) return toSignIn(deps, incoming, startPath(id))
  const begun = await begunBy(deps, person, id)
  return begun.tenant_id === person.workspace.id
    ? showStanding(deps, incoming, { begun, person })
    : elsewhere(deps, incoming, { begun, person, back: html`` })
}

/** A form of ours may not lead to another site, so a page does. */
const leadingTo = (url: string): Response =>
  pageResponse({
    title: 'One moment',
    body: html`<p><a href="${url}">Continue to ${new URL(url).host}</a></p>`,
    headers: { refresh: `0; url=${url}` },
  })

/** Throws what is a fault of ours. */
const refusalOf = (cause: unknown): Refusal => {
  const reason = reasonOf(cause)
  if (reason === undefined) throw cause
  if (cause instanceof NetworkError) {
    const says = `${reason.charAt(0).toUpperCase()}${reason.slice(1)}.`
    return { problems: [{ says }], status: 502 }
  }
  const error = AppError.from(cause)
  return {
    problems: problemsOf(error, {}),
    status: pageStatus(error),
    headers: retryHeaders(error),
  }
}

/** As the person, in the workspace in which they are. */
const settling =
  (deps: ConnectingDeps, incoming: Incoming) =>
  async (operation: string, input: object): Promise<unknown> => {
    const o = workspaceOperations(deps.internal).find(({ id }) => id === operation)!
    const caller = await deps.authenticator.authenticate(incoming)
    return o.run(() => input, callOf(caller, incoming.request))
  }

const tryToLead = async (
  deps: ConnectingDeps,
  incoming: Incoming,
  { begun, person }: { begun: BegunAuthorization; person: SessionGrant },
): Promise<Response> => {
  try {
    requireOwner(person)
    return leadingTo(await leadAuthorization(deps, begun))
  } catch (cause) {
    if (!(cause instanceof AppError && cause.code === 'invalid_input'))
      return showStanding(deps, incoming, { begun, person, refusal: refusalOf(cause) })
    // It will be refused again: whoever waits for it is told.
    const input = { id: begun.id, reason: cause.message.slice(0, LONGEST_REASON) }
    await settling(deps, incoming)('operator.authorizations.refuse', input)
    return redirect(startPath(begun.id))
  }
}

const lead = async (deps: ConnectingDeps, incoming: Incoming): Promise<Response> => {
  const id = idOf(incoming)
  const person = await signedInPerson(deps, incoming)
  if (!person) return toSignIn(deps, incoming, startPath(id))
  const { move_to: workspace } = await trustedForm(deps, incoming)
  const begun = await begunBy(deps, person, id)
  if (workspace !== undefined) {
    await moveTo(deps, incoming, workspace)
    return redirect(startPath(id))
  }
  if (begun.tenant_id !== person.workspace.id) return redirect(startPath(id))
  return tryToLead(deps, incoming, { begun, person })
}

/**
 * Where cookies are, if the network has sent the browser to the address of this machine in place of
 * the name under which it is used.
 */
const cookiesAt = ({ identity: { publicUrl } }: PageDeps, { request }: Incoming): string | null => {
  const [own, asked] = [new URL(publicUrl), new URL(request.url)]
  const isMisplaced =
    own.protocol === 'http:' && asked.hostname === '127.0.0.1' && own.hostname !== asked.hostname
  return isMisplaced ? `${publicUrl}${CALLBACK}${asked.search}` : null
}

const comeBack = async (deps: ConnectingDeps, incoming: Incoming): Promise<Response> => {
  const other = cookiesAt(deps, incoming)
  if (other !== null) return redirect(other)
  const query = queryOf(incoming)
  const state = query.get('state')
  const id = idInState(state)
  const person = await signedInPerson(deps, incoming)
  if (!person) return toSignIn(deps, incoming, `${CALLBACK}?${query}`)
  const begun = await begunBy(deps, person, id)
  if (begun.tenant_id !== person.workspace.id) {
    const back = hiddenField('query', String(query))
    return elsewhere(deps, incoming, { begun, person, back })
  }
  const [code, iss, error] = ['code', 'iss', 'error'].map((name) => query.get(name))
  await endAuthorization(
    { db: deps.db, bluesky: deps.bluesky, settle: settling(deps, incoming) },
    begun,
    { state: state!, code: code!, iss: iss!, error: error! },
  )
  // A reload shows what became of it.
  return redirect(startPath(id))
}

const moveAndComeBack = async (deps: ConnectingDeps, incoming: Incoming): Promise<Response> => {
  const { move_to: workspace, query = '' } = await trustedForm(deps, incoming)
  if (!(await signedInPerson(deps, incoming)))
    return toSignIn(deps, incoming, `${CALLBACK}?${query}`)
  if (workspace !== undefined) await moveTo(deps, incoming, workspace)
  return redirect(`${CALLBACK}?${new URLSearchParams(query)}`)
}

export const connectingPageRoutes = (deps: ConnectingDeps): Route[] => [
  pageRoute(deps, 'GET', '/connections/start/:id', (_, incoming) => show(deps, incoming)),
  pageRoute(deps, 'POST', '/connections/start/:id', (_, incoming) => lead(deps, incoming)),
  pageRoute(deps, 'GET', CALLBACK, (_, incoming) => comeBack(deps, incoming)),
  pageRoute(deps, 'POST', CALLBACK, (_, incoming) => moveAndComeBack(deps, incoming)),
]
