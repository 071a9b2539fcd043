/** `tendril agent chat`: each line is a message, whose job is followed until it ends. */
import { Failure, INTERRUPTED_EXIT } from '../failure.ts'
import type { Host, InputLines } from '../host.ts'
import { reportFailure } from '../report.ts'
import { oneLine } from '../text.ts'
import { decideAll, pendingOf } from './approvals.ts'
import { type AgentContext, openAgent, operationOf } from './context.ts'
import { exitOf, WAITING_EXIT } from './ending.ts'
import { follow, type JobEvent } from './follow.ts'
import { Printer } from './printer.ts'

type Options = Record<string, unknown>

interface Chat {
  context: AgentContext
  lines: InputLines
  options: Options
  /** Undefined before the first message. */
  conversation: string | undefined
}

const HELP = `Each line is a message. A line that begins with / is a command in the words of the command line, as in
/items list --status drafted; /items approve 2 is the second of the list shown last. /help items lists the commands of a group.
/new begins another conversation, /quit ends this program. Ctrl-C cancels the turn that runs.
`

const textIn = (options: Options, name: string): string | undefined =>
  typeof options[name] === 'string' ? (options[name] as string) : undefined

const conversationOf = async (chat: Chat): Promise<string> => {
  const title = textIn(chat.options, 'title')
  chat.conversation ??= (
    await chat.context.ask<{ conversation: { id: string } }>(
      'agent.conversations.create',
      title === undefined ? {} : { title },
    )
  ).conversation.id
  return chat.conversation
}

/** Ctrl-C cancels the turn. After that, the next one ends the program. */
const cancelling = (
  { host, ask }: AgentContext,
  id: string,
): Disposable & { signal: AbortSignal } => {
  const controller = new AbortController()
  const free = host.onInterrupt(() => {
    if (controller.signal.aborted) return false
    controller.abort()
    host.stderr.write('cancelling …\n')
    ask('agent.jobs.cancel', { id }).catch((cause: unknown) =>
      report(host, cause, 'agent.jobs.cancel'),
    )
    return true
  })
  return { signal: controller.signal, [Symbol.dispose]: free }
}

/**
 * Follows the job of a turn, and asks for decisions where it waits for them. Returns the exit code.
 */
const followTurn = async ({ context, lines, options }: Chat, id: string): Promise<number> => {
  using cancelled = cancelling(context, id)
  const printer = new Printer(context.host, options.json === true)
  let status: JobEvent['data'] = {}
  const take = (event: JobEvent): boolean => {
    printer.print(event)
    if (event.type === 'job.status') status = event.data
    return event.type !== 'job.status' || event.data.status !== 'waiting_approval'
  }
  for (let after = 0; ; ) {
    const followed = await follow(context, { id, after, take })
    if (followed.over) break
    after = followed.after
    const pending = await pendingOf(context, id)
    const isDecided = await decideAll({ context, lines, signal: cancelled.signal }, pending)
    if (!isDecided && !cancelled.signal.aborted) return waiting(context, id)
  }
  if (status.status === 'failed')
    context.host.stderr.write(`tendril: the turn failed: ${oneLine(String(status.error))}\n`)
  return exitOf(status)
}

/** The conversation goes on in the meantime. The answer appears in it once a person has decided. */
const waiting = ({ host }: AgentContext, id: string): number => {
  host.stderr.write(`  the turn waits; follow it with tendril agent jobs watch ${id}\n`)
  return WAITING_EXIT
}

const turn = async (chat: Chat, content: string): Promise<number> => {
  const id = await conversationOf(chat)
  const { job } = await chat.context.ask<{ job: { id: string } }>('agent.conversations.send', {
    id,
    content,
  })
  return followTurn(chat, job.id)
}

const report = (host: Host, cause: unknown, id: string): number => {
  const failure = Failure.from(cause)
  reportFailure(host, failure, { o: operationOf(id), asJson: false })
  return failure.exit
}

/**
 * A refused message does not end the conversation, unless every other message would be refused too.
 */
const turnOrReport = async (chat: Chat, line: string): Promise<number> => {
  try {
    return await turn(chat, line)
  } catch (cause) {
    const { host } = chat.context
    if (
      host.signal.aborted ||
      !(cause instanceof Failure) ||
      cause.code === 'unauthenticated' ||
      cause.code === 'missing_scope'
    )
      throw cause
    return report(host, cause, 'agent.conversations.send')
  }
}

const own: Record<string, (chat: Chat) => void> = {
  '/new': (chat) => {
    chat.conversation = undefined
  },
  '/help': ({ context }) => context.host.stderr.write(HELP),
}

const talk = async (chat: Chat): Promise<number> => {
  let code = 0
  for (;;) {
    const line = (await chat.lines.next('> '))?.trim()
    if (line === undefined || line === '/quit')
      return chat.context.host.signal.aborted ? INTERRUPTED_EXIT : code
    if (Object.hasOwn(own, line)) own[line]!(chat)
    else if (line !== '') code = await turnOrReport(chat, line)
  }
}

/** Returns the exit code of the last turn. */
export const chat = async (options: Options, host: Host): Promise<number> => {
  using context = await openAgent(options, host)
  using lines = await host.lines()
  if (lines.isTerminal)
    host.stderr.write(
      `${context.url}, ${context.token === context.person ? 'as yourself' : 'by key'}. /help, /quit.\n`,
    )
  const state: Chat = { context, lines, options, conversation: textIn(options, 'conversation') }
  const code = await talk(state)
  if (lines.isTerminal && state.conversation !== undefined)
    host.stderr.write(`go on with tendril agent chat --conversation ${state.conversation}\n`)
  return code
}
