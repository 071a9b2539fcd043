/** Tools that exist only inside a job: they change nothing but the job itself. */
import { type Static, Type as T, type TSchema } from '@sinclair/typebox'
import { NOT_BLANK } from '#contract/shapes'
import type { Decided, Tool } from '#decisions/agent/toolbox'
import type { CallingJob } from '#domain/agent/job'
import { CONVERSATION } from '#domain/agent/taint'
import { fail } from '#kernel/errors'
import { type FoundMessage, searchMessages } from '#store/agent/search'
import type { World } from './call.ts'

const strict = { additionalProperties: false }

const inputs = {
  use_tools: T.Object({ names: T.Array(T.String({ minLength: 1, maxLength: 64 }), { minItems: 1, maxItems: 10 }) }, strict),
  search_conversation: T.Object({ query: T.String({ minLength: 1, maxLength: 200, pattern: NOT_BLANK }) }, strict),
}
type Name = keyof typeof inputs

const descriptions: Record<Name, [title: string, rest: string]> = {
  use_tools: ['Get the definitions of further tools', 'Names are in the index of tools. They can be called from the next answer on.'],
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
  return { name, title, description: `${title}. ${rest}`, parameters, module: 'agent', class: 'read', way, foreign: way === 'read' }
}

/** What a search gives the model. `untrusted`: where words come from that are not the caller's own. */
interface Found {
  messages: { role: string; content: string; at: string; untrusted?: string }[]
}

const shown = ({ created_at, untrusted, ...rest }: FoundMessage): Found['messages'][number] => ({
  ...{ ...rest, at: created_at.toISOString() },
  ...(untrusted ? { untrusted: CONVERSATION } : {}),
})

/** `isTool`: whether there is a tool of this name. */
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
  async read(name: string, args: unknown, at: { tenantId: string } & Pick<CallingJob, 'conversationId' | 'messageId'>): Promise<unknown> {
    if (name !== 'search_conversation') return fail('not_found', `there is no tool ${name}`)
    const { query } = args as Static<(typeof inputs)['search_conversation']>
    const { tenantId, conversationId, messageId } = at
    if (conversationId === null || messageId === null) return { messages: [] } satisfies Found
    const messages = await db.read({ tenantId }, searchMessages({ conversationId, messageId }, query))
    return { messages: messages.map(shown) } satisfies Found
  },
  /** Where words in an answer come from that are not the caller's own. */
  sources: (name: string, value: unknown): string[] =>
    name === 'search_conversation' ? [...new Set((value as Found).messages.flatMap(({ untrusted }) => untrusted ?? []))] : [],
  /** Undefined for a tool that is none of these. */
  text(name: string, value: unknown): string | undefined {
    return isName(name) ? JSON.stringify(value) : undefined
  },
})
