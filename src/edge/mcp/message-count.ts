/** What of a request over MCP counts against the rates of its caller. */
import { isExempt, type NamedOp } from '#contract/op'

interface Message {
  method?: unknown
  params?: { name?: unknown }
}

/** Each message counts as a request, of which one HTTP request may bring many; but for calls of tools that no rate refuses. */
export const countedIn = (body: unknown, operations: readonly NamedOp[]): number => {
  const isFree = ({ method, params }: Message): boolean =>
    method === 'tools/call' && operations.some((o) => o.tool !== undefined && o.tool === params?.name && isExempt(o, 'rates'))
  return [body].flat().filter((message) => !isFree((message ?? {}) as Message)).length
}
