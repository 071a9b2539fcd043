/** How much an MCP request counts against its caller's rates. */
import { isExempt, type NamedOp } from '#contract/op'

interface Message {
  method?: unknown
  params?: { name?: unknown }
}

/** The number of messages in a body, without calls of tools that are exempt from rates. */
export const countMessages = (body: unknown, operations: readonly NamedOp[]): number => {
  const isFree = ({ method, params }: Message): boolean =>
    method === 'tools/call' && operations.some((o) => o.tool !== undefined && o.tool === params?.name && isExempt(o, 'rates'))
  return [body].flat().filter((message) => !isFree((message ?? {}) as Message)).length
}
