/** Tools that exist only inside a job and change nothing but that job. */
import { type Static, Type as T, type TSchema } from '@sinclair/typebox'
import { NOT_BLANK } from '#contract/shapes'
import type { Decided, Tool, ToolCaller } from '#decisions/agent/toolbox'
import { Authors, type Named, type Rights } from '#domain/agent/job/authors'
import type { CallingJob } from '#domain/agent/job/job'
import { CONVERSATION } from '#domain/agent/job/taint'
import { fail } from '#kernel/errors'
import { type FoundMessage, searchMessages } from '#store/agent/search'
import type { World } from '../../engine/call.ts'

const strict = { additionalProperties: false }

const inputs = {
  use_tools: T.Object(
    { names: T.Array(T.String({ minLength: 1, maxLength: 64 }), { minItems: 1, maxItems: 10 }) },
    strict,
  ),
  search_conversation: T.Object(
    { query: T.String({ minLength: 1, maxLength: 200, pattern: NOT_BLANK }) },
    strict,
  ),
}
type Name = keyof typeof inputs

const descriptions: Record<Name, [title: string, rest: string]> = {
  use_tools: [
    'Get the definitions of further tools',
    'Names are in the index of tools. They can be called from the next answer on.',
  ],
  search_conversation: [
    'Search the earlier messages of this conversation',
    'Returns up to ten messages that contain all words, newest first.',
  ],
}

const isName = (name: string): name is Name => Object.hasOwn(inputs, name)

const toolOf = (name: Name): Tool => {
  const [title, rest] = descriptions[name]
  const way = name === 'search_conversation' ? 'read' : 'command'
  const parameters = inputs[name] as unknown as Record<string, unknown>
  return {
    name,
    title,
    description: `${title}. ${rest}`,
    parameters,
    module: 'agent',
    class: 'read',
    way,
    foreign: way === 'read',
  }
}

/**
 * A search result for the model. `from`: who wrote it, if not the caller. `untrusted`: the source
 * of words that must not be obeyed.
 */
interface Found {
  messages: { role: string; from?: string; content: string; at: string; untrusted?: string }[]
}

const showMessage = (
  { role, content, created_at, ...found }: FoundMessage,
  by: Named | undefined,
): Found['messages'][number] => {
  const untrusted = found.untrusted ? CONVERSATION : by?.isLesser ? by.source : undefined
  const at = created_at.toISOString()
  return {
    role,
    ...(by && !by.isSelf ? { from: by.label } : {}),
    content,
    at,
    ...(untrusted ? { untrusted } : {}),
  }
}

/** The identity under which a job searches. */
interface Searching {
  caller: ToolCaller
  job: Pick<CallingJob, 'conversationId' | 'messageId' | 'onBehalf'>
}

const rightsOf = ({ principal, scopes }: ToolCaller): Rights & { name: null } => ({
  name: null,
  role: principal.member?.role ?? null,
  scopes: [...scopes].filter((scope) => scope !== 'session'),
})

/** `isTool`: whether a tool has this name. */
export const innerTools = ({ db }: Pick<World, 'db'>, isTool: (name: string) => boolean) => ({
  tools: Object.keys(inputs).map((name) => toolOf(name as Name)),
  has: isName,
  input: (name: string): TSchema | undefined => (isName(name) ? inputs[name] : undefined),
  async decide(args: unknown): Promise<Decided> {
    const { names } = args as Static<(typeof inputs)['use_tools']>
    const unknown = names.find((one) => !isTool(one))
    if (unknown !== undefined) fail('not_found', `there is no tool ${unknown}`)
    return { value: { names }, effects: {}, shown: names }
  },
  async read(name: string, args: unknown, { caller, job }: Searching): Promise<unknown> {
    if (name !== 'search_conversation') return fail('not_found', `there is no tool ${name}`)
    const { query } = args as Static<(typeof inputs)['search_conversation']>
    const { conversationId, messageId, onBehalf } = job
    if (conversationId === null || messageId === null) return { messages: [] } satisfies Found
    const found = await db.read(
      { tenantId: caller.tenantId },
      searchMessages({ conversationId, messageId }, query),
    )
    const authors = new Authors(
      found.flatMap(({ by }) => by ?? []),
      onBehalf,
      rightsOf(caller),
    )
    return { messages: found.map((one) => showMessage(one, authors.of(one.by))) } satisfies Found
  },
  /** The sources of words in an answer that are not the caller's own. */
  sources: (name: string, value: unknown): string[] =>
    name === 'search_conversation'
      ? [...new Set((value as Found).messages.flatMap(({ untrusted }) => untrusted ?? []))]
      : [],
  /** Undefined if the tool is not one of these. */
  text(name: string, value: unknown): string | undefined {
    return isName(name) ? JSON.stringify(value) : undefined
  },
})
