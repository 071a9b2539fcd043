/**
 * The page for talking to the agent through a dev channel. Its messages are treated like any
 * message from outside, except that they need no signature.
 */
import type { ChannelConnection } from '#domain/agent/channel/channel'
import type { ArrivedMessage } from '#domain/agent/channel/message'
import { AppError, fail } from '#kernel/errors'
import { isUuid, newId } from '#kernel/ids'
import { storable } from '#kernel/storable'
import { workspaceOperations } from '#ops/engine/bind'
import { createPoller, type Poller } from '#ops/engine/waiters'
import { PAGE_SENDER } from '#port/channel/dev'
import { channelConnectionPart } from '#store/agent/channel-connections'
import { memberOfSender } from '#store/agent/channel-messages'
import { talkPart } from '#store/agent/channel-talk'
import type { SessionGrant } from '#store/app/sessions'
import { loadBy } from '#store/engine/load'
import { callFrom } from '../agent/inbound.ts'
import type { Incoming } from '../incoming.ts'
import type { Route } from '../route.ts'
import { isAwaited, LONGEST, type Talk, talkBody } from './dev-channel-body.ts'
import {
  type Problem,
  pageResponse,
  pageStatus,
  problemsOf,
  redirect,
  retryHeaders,
} from './layout.ts'
import {
  foundPage,
  type PageDeps,
  pageRoute,
  queryOf,
  run,
  signedInPerson,
  toSignIn,
  trustedForm,
} from './page.ts'

interface Deps extends PageDeps {
  waiters: Poller
}

/** How long a request waits for the agent's answer. */
const WAIT_MS = 8_000
/** The largest form: a text of 10,000 characters, each of which may take nine bytes. */
const FORM_BYTES = 131_072

const idOf = ({ params }: Incoming): string => params!.id!

const pathFor = (id: string, query = ''): string =>
  `/channels/dev/${encodeURIComponent(id)}${query}`

/** Nobody can write in the name of another sender, who may be linked to somebody else. */
const senderOf = ({ person }: Pick<SessionGrant, 'person'>): string => `${PAGE_SENDER}${person.id}`

const connectionOf = async (
  { db }: PageDeps,
  id: string,
  tenantId: string,
): Promise<ChannelConnection> => {
  const found = isUuid(id)
    ? await loadBy((query) => db.read({ tenantId }, query), {
        connection: channelConnectionPart(id),
      })
    : undefined
  return found?.connection?.channel === 'dev'
    ? found.connection
    : fail('not_found', 'no such dev channel')
}

interface Refused {
  error: AppError
  typed: string | undefined
  problems: Problem[]
}

const talkOf = async ({ db }: Deps, { person, workspace }: SessionGrant, id: string) => {
  const sender = senderOf({ person })
  const parts = { said: talkPart(id, sender), identity: memberOfSender(id, sender) }
  const { said, identity } = await loadBy(
    (query) => db.read({ tenantId: workspace.id }, query),
    parts,
  )
  return { said, isLinked: identity?.person_id === person.id }
}

const show = async (
  deps: Deps,
  incoming: Incoming,
  person: SessionGrant,
  refused?: Refused,
): Promise<Response> => {
  const connection = await connectionOf(deps, idOf(incoming), person.workspace.id)
  const query = queryOf(incoming)
  const at = {
    tenantId: person.workspace.id,
    caller: { kind: 'session', id: person.id } as const,
    waitMs: query.has('wait') ? WAIT_MS : 0,
  }
  const look = () => talkOf(deps, person, connection.id)
  const { said, isLinked } = await deps.waiters.until(look, (seen) => !isAwaited(seen.said), at)
  const talk: Talk = {
    connection,
    said,
    isLinked,
    workspace: person.workspace.name,
    event: newId(),
    isDeclined: query.has('declined'),
    ...(refused && { typed: refused.typed, problems: refused.problems }),
  }
  const page = { title: connection.display_name, body: talkBody(talk) }
  if (!refused) return pageResponse(page)
  return pageResponse({
    ...page,
    problems: refused.problems,
    status: pageStatus(refused.error),
    headers: retryHeaders(refused.error),
  })
}

const showFound = (
  deps: Deps,
  incoming: Incoming,
  person: SessionGrant,
  refused?: Refused,
): Promise<Response> => foundPage(show(deps, incoming, person, refused), person, 'dev channel')

const open = async (deps: Deps, incoming: Incoming): Promise<Response> => {
  const person = await signedInPerson(deps, incoming)
  return person
    ? showFound(deps, incoming, person)
    : toSignIn(deps, incoming, pathFor(idOf(incoming)))
}

const textOf = (text = ''): string => {
  const message = `must have 1 to ${LONGEST.toLocaleString('en')} characters`
  const given = storable(text).replaceAll('\r\n', '\n').trim()
  if (given !== '' && given.length <= LONGEST) return given
  throw new AppError('invalid_input', message, { details: [{ path: 'text', message }] })
}

const messageOf = (
  person: SessionGrant,
  { event = '', text }: Record<string, string | undefined>,
): ArrivedMessage => {
  const sender = senderOf(person)
  const to = { sender, thread: null }
  return {
    // Without a name of its own, it counts as another message each time.
    eventIds: [`page ${person.person.id} ${isUuid(event) ? event : newId()}`],
    sender: { id: sender, name: person.person.name || person.person.email },
    thread: 'page',
    isShared: false,
    subject: null,
    text: textOf(text),
    attachments: [],
    replyTo: to,
    directTo: to,
    toFetch: null,
  }
}

/** A code for the person, who sends it as one would in any other channel. */
const codeFor = async (deps: Deps, incoming: Incoming, id: string): Promise<string> =>
  (await run(deps, incoming, { id: 'agent.channelIdentities.linkCode', input: { id } })).code

interface Answer {
  outcome: 'taken' | 'known' | 'declined' | 'later'
  retryAfter: number
}

const take = async (
  deps: Deps,
  incoming: Incoming,
  person: SessionGrant,
  message: ArrivedMessage,
): Promise<Answer> => {
  const operation = workspaceOperations(deps.internal).find(
    ({ id }) => id === 'operator.inbound.channel',
  )!
  const { body } = await operation.run(
    () => ({ id: idOf(incoming), message }),
    callFrom(person.workspace.id, incoming),
  )
  const answer = JSON.parse(body) as Answer
  if (answer.outcome === 'later')
    throw new AppError('unavailable', 'too many messages', { retryAfter: answer.retryAfter })
  return answer
}

const EXPECTED = [
  'not_found',
  'invalid_input',
  'rate_limited',
  'forbidden',
  'conflict',
  'unavailable',
]

const send = async (deps: Deps, incoming: Incoming): Promise<Response> => {
  const person = await signedInPerson(deps, incoming)
  if (!person) return toSignIn(deps, incoming, pathFor(idOf(incoming)))
  const form = await trustedForm(deps, incoming, {
    limit: FORM_BYTES,
    workspace: person.workspace.id,
  })
  try {
    const { id } = await connectionOf(deps, idOf(incoming), person.workspace.id)
    const text = form.decision === 'link' ? await codeFor(deps, incoming, id) : form.text
    const { outcome } = await take(deps, incoming, person, messageOf(person, { ...form, text }))
    return redirect(pathFor(id, outcome === 'declined' ? '?wait=1&declined=1' : '?wait=1'))
  } catch (cause) {
    const error = AppError.from(cause)
    if (!EXPECTED.includes(error.code)) throw cause
    return showFound(deps, incoming, person, {
      error,
      typed: form.text,
      problems: problemsOf(error, { text: 'Message' }),
    })
  }
}

export const devChannelPageRoutes = (deps: PageDeps): Route[] => {
  const waiting = { ...deps, waiters: createPoller() }
  return [
    pageRoute(deps, 'GET', '/channels/dev/:id', (_, incoming) => open(waiting, incoming)),
    pageRoute(deps, 'POST', '/channels/dev/:id', (_, incoming) => send(waiting, incoming)),
  ]
}
