/** How much an MCP request counts against its caller's limits. */
import { isExempt, type NamedOp } from '#contract/op'

interface Message {
  method?: unknown
  params?: { name?: unknown }
}

const messagesIn = (body: unknown): Message[] =>
  (Array.isArray(body) ? body : [body]).map((message) => (message ?? {}) as Message)

/** Operations by the names of their tools. */
type Tools = ReadonlyMap<unknown, NamedOp>

const operationOf = ({ method, params }: Message, tools: Tools): NamedOp | undefined =>
  method === 'tools/call' ? tools.get(params?.name) : undefined

/** The number of messages in a body, not counting calls of tools that are exempt from rates. */
export const countMessages = (body: unknown, tools: Tools): number =>
  messagesIn(body).filter((message) => {
    const o = operationOf(message, tools)
    return !o || !isExempt(o, 'rates')
  }).length

/** Whether a body only calls urgent tools, such as the kill switch. */
export const isUrgent = (body: unknown, tools: Tools): boolean =>
  messagesIn(body).every((message) => operationOf(message, tools)?.urgent === true)
