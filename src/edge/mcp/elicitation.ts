/**
 * Sends the client's user to the page where a person decides. The client only opens the page;
 * neither its answer nor its key decides anything. Clients from before 2026-07-28 are asked while
 * the call waits. Later ones get the question as the result, and call again.
 */
import {
  CLIENT_CAPABILITIES_META_KEY,
  type ClientCapabilities,
  type InputRequiredResult,
  inputRequired,
  type Server,
  type ServerContext,
} from '@modelcontextprotocol/server'
import type { AppError } from '#kernel/errors'
import { newId } from '#kernel/ids'

export interface Elicitation {
  /** Whether the client can open a page and has not been asked to during this call. */
  isPossible: boolean
  /** The call's idempotency key. With it, a repetition of the call finds what became of it. */
  key: string
}

const capabilitiesOf = (
  server: Server,
  { mcpReq: { envelope } }: ServerContext,
): ClientCapabilities | undefined =>
  ((envelope as Record<string, unknown> | undefined)?.[CLIENT_CAPABILITIES_META_KEY] as
    | ClientCapabilities
    | undefined) ?? server.getClientCapabilities()

/**
 * The client sends the state back. It need not be trusted, because a client could send any key of
 * its own.
 */
export const elicitationOf = (server: Server, ctx: ServerContext): Elicitation => {
  const key = ctx.mcpReq.requestState()
  const isBack = typeof key === 'string' && key !== ''
  return {
    isPossible: !isBack && capabilitiesOf(server, ctx)?.elicitation?.url !== undefined,
    key: isBack ? key : `mcp-${newId()}`,
  }
}

/** Undefined if the error does not name a page. */
export const pageFor = (
  { message, details }: AppError,
  { key }: Elicitation,
): InputRequiredResult | undefined => {
  const url = details?.find(({ path }) => path === 'url')?.message
  if (url === undefined) return undefined
  return inputRequired({
    inputRequests: { approval: inputRequired.elicitUrl({ url, message }) },
    requestState: key,
  })
}
