/**
 * Sends the user of a client to the page where a person decides. The client only opens it: neither
 * its answer nor its key decides. Clients before 2026-07-28 are asked while the call waits; those
 * since then get the question as the result, and call again.
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
  /** Whether the client can open a page, and has not been asked to in this call. */
  isPossible: boolean
  /** The idempotency key of the call, so that its repetition finds what became of it. */
  key: string
}

const capabilitiesOf = (
  server: Server,
  { mcpReq: { envelope } }: ServerContext,
): ClientCapabilities | undefined =>
  ((envelope as Record<string, unknown> | undefined)?.[CLIENT_CAPABILITIES_META_KEY] as
    | ClientCapabilities
    | undefined) ?? server.getClientCapabilities()

/** The state comes back from the client, which could as well send any key of its own. */
export const elicitationOf = (server: Server, ctx: ServerContext): Elicitation => {
  const key = ctx.mcpReq.requestState()
  const isBack = typeof key === 'string' && key !== ''
  return {
    isPossible: !isBack && capabilitiesOf(server, ctx)?.elicitation?.url !== undefined,
    key: isBack ? key : `mcp-${newId()}`,
  }
}

/** Undefined if the error names no page. */
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
