/** How much an MCP request counts against its caller's limits. */
import { isExempt, type NamedOp } from '#contract/op'

interface Message {
  method?: unknown
  params?: { name?: unknown }
}

const messagesIn = (body: unknown): Message[] => [body].flat().map((message) => (message ?? {}) as Message)

const operationOf = ({ method, params }: Message, operations: readonly NamedOp[]): NamedOp | undefined =>
  method === 'tools/call' ? operations.find((o) => o.tool !== undefined && o.tool === params?.name) : undefined

/** The number of messages in a body, without calls of tools that are exempt from rates. */
export const countMessages = (body: unknown, operations: readonly NamedOp[]): number =>
  messagesIn(body).filter((message) => {
    const o = operationOf(message, operations)
    return !o || !isExempt(o, 'rates')
  }).length

/** Whether a body calls only urgent tools, such as the kill switch. */
export const isUrgent = (body: unknown, operations: readonly NamedOp[]): boolean =>
  messagesIn(body).every((message) => operationOf(message, operations)?.urgent === true)
