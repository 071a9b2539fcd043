/** Resources and prompts as an MCP server of either era offers them. */
import { ProtocolError, ProtocolErrorCode, ResourceNotFoundError, type Server } from '@modelcontextprotocol/server'
import { AppError } from '#kernel/errors'
import { getPrompt, prompts } from './prompts.ts'
import { listResources, readResource, resourceTemplates } from './resources.ts'
import type { Served } from './session.ts'

/** These have no results of their own for failures, as tools have: a failure is an error of the protocol, with our code beside it. */
const orProtocolError = async <T>(run: Promise<T>, uri?: string): Promise<T> => {
  try {
    return await run
  } catch (cause) {
    const { code, message, status, details, retryAfter } = AppError.from(cause)
    if (code === 'not_found' && uri !== undefined) throw new ResourceNotFoundError(uri, message)
    const kind = status >= 500 ? ProtocolErrorCode.InternalError : ProtocolErrorCode.InvalidParams
    throw new ProtocolError(kind, `${code}: ${message}`, { code, details, retry_after: retryAfter })
  }
}

export const installResources = (server: Server, { within }: Served): void => {
  server.setRequestHandler('resources/list', ({ params }, ctx) =>
    within(ctx, (context) => orProtocolError(listResources(context, params?.cursor))),
  )
  server.setRequestHandler('resources/templates/list', async () => ({ resourceTemplates: [...resourceTemplates] }))
  server.setRequestHandler('resources/read', ({ params: { uri } }, ctx) =>
    within(ctx, (context) => orProtocolError(readResource(context, uri), uri)),
  )
}

export const installPrompts = (server: Server, { within }: Served): void => {
  server.setRequestHandler('prompts/list', async () => ({ prompts: [...prompts] }))
  server.setRequestHandler('prompts/get', ({ params }, ctx) =>
    within(ctx, (context) => orProtocolError(getPrompt(context, params.name, params.arguments))),
  )
}
