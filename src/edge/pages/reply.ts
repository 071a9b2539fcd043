/** The page where a person decides whether a reply goes out to a channel. */
import type { ShownChannelReply as Reply } from '#contract/agent/channel-replies'
import { BODY_LIMIT } from '#contract/kinds'
import { AppError } from '#kernel/errors'
import { scopes } from '#kernel/scopes'
import { mayRun } from '#ops/engine/access'
import type { SessionGrant } from '#store/app/sessions'
import type { Incoming } from '../incoming.ts'
import type { Route } from '../route.ts'
import { pageResponse, pageStatus, problemsOf, redirect, retryHeaders } from './layout.ts'
import { nameOfMember } from './members.ts'
import {
  foundPage,
  type PageDeps,
  pageRoute,
  run,
  signedInPerson,
  toSignIn,
  trustedForm,
} from './page.ts'
import { canDecideReply, type ReplyPage, replyBody, replyTitle } from './reply-body.ts'

const idOf = ({ params }: Incoming): string => params!.id!

const pathFor = (id: string): string => `/replies/${encodeURIComponent(id)}`

const SEND = 'agent.channelReplies.send'

const refusalOf = (
  { operations }: PageDeps,
  { id, person, workspace: { role } }: SessionGrant,
): string | undefined => {
  const o = operations.find((one) => one.id === SEND)!
  const principal = { kind: 'session', id, member: { personId: person.id, role } } as const
  if (mayRun(o, { scopes: new Set([...scopes, 'session']), principal })) return undefined
  return `You cannot decide about this: your role is ${role}, and sending a reply requires ${['owner', ...o.roles].join(' or ')}.`
}

interface Refused {
  error: AppError
  typed: string | undefined
}

const show = async (
  deps: PageDeps,
  incoming: Incoming,
  person: SessionGrant,
  refused?: Refused,
): Promise<Response> => {
  const { reply } = (await run(deps, incoming, {
    id: 'agent.channelReplies.get',
    input: { id: idOf(incoming) },
  })) as { reply: Reply }
  const problems = refused && problemsOf(refused.error, { text: 'Text' })
  const shown: ReplyPage = {
    reply,
    workspace: person.workspace.name,
    refusal: refusalOf(deps, person),
    typed: refused?.typed,
    problems,
    by: reply.decidedBy === null ? undefined : await nameOfMember(deps, incoming, reply.decidedBy),
  }
  const page = {
    title: replyTitle(shown),
    body: replyBody(shown),
    inConsole: `inbox/reply/${idOf(incoming)}`,
  }
  if (!refused || !problems) return pageResponse(page)
  const { error } = refused
  // If there are no forms, there is nothing to link to.
  const said = canDecideReply(shown) ? problems : problems.map(({ says }) => ({ says }))
  return pageResponse({
    ...page,
    problems: said,
    status: pageStatus(error),
    headers: retryHeaders(error),
  })
}

const showFound = (
  deps: PageDeps,
  incoming: Incoming,
  person: SessionGrant,
  refused?: Refused,
): Promise<Response> => foundPage(show(deps, incoming, person, refused), person, 'reply')

const open = async (deps: PageDeps, incoming: Incoming): Promise<Response> => {
  const person = await signedInPerson(deps, incoming)
  return person
    ? showFound(deps, incoming, person)
    : toSignIn(deps, incoming, pathFor(idOf(incoming)))
}

const EXPECTED = ['not_found', 'invalid_input', 'rate_limited', 'forbidden', 'conflict']

const send = async (deps: PageDeps, incoming: Incoming): Promise<Response> => {
  const person = await signedInPerson(deps, incoming)
  const id = idOf(incoming)
  // After signing in, the person sees the question again and can decide.
  if (!person) return toSignIn(deps, incoming, pathFor(id))
  const { decision, text, seen, hash } = await trustedForm(deps, incoming, {
    limit: BODY_LIMIT,
    workspace: person.workspace.id,
  })
  try {
    // Browsers send line ends as forms have them.
    const input = {
      id,
      ...(text === undefined ? {} : { text: text.replaceAll('\r\n', '\n') }),
      ...(hash ? { expect_hash: hash } : {}),
    }
    if (decision === 'send') await run(deps, incoming, { id: SEND, input })
    else if (decision === 'arrived' || decision === 'not_arrived')
      await run(deps, incoming, {
        id: 'agent.channelReplies.settle',
        input: { id, outcome: decision, updatedAt: seen },
      })
    else if (decision === 'discard')
      await run(deps, incoming, { id: 'agent.channelReplies.discard', input: { id } })
    return redirect(pathFor(id))
  } catch (cause) {
    const error = AppError.from(cause)
    if (!EXPECTED.includes(error.code)) throw cause
    return showFound(deps, incoming, person, { error, typed: text })
  }
}

export const replyPageRoutes = (deps: PageDeps): Route[] => [
  pageRoute(deps, 'GET', '/replies/:id', open),
  pageRoute(deps, 'POST', '/replies/:id', send),
]
