/** The MCP handlers for resources and prompts. */
import { ResourceNotFoundError, type Server } from '@modelcontextprotocol/server'
import { AppError } from '#kernel/errors'
import { getPrompt, prompts } from './prompts.ts'
import { listResources, readResource, resourceTemplates } from './resources.ts'
import type { ServerSettings } from './server.ts'
import { asProtocolError } from './server.ts'

const orProtocolError = async <T>(run: Promise<T>, uri?: string): Promise<T> => {
  try {
    return await run
  } catch (cause) {
    if (uri !== undefined && cause instanceof AppError && cause.code === 'not_found')
      throw new ResourceNotFoundError(uri, cause.message)
    throw asProtocolError(cause)
  }
}

export const installResources = (server: Server, { within }: ServerSettings): void => {
  server.setRequestHandler('resources/list', ({ params }, ctx) =>
    within(ctx, (context) => orProtocolError(listResources(context, params?.cursor))),
  )
  server.setRequestHandler('resources/templates/list', async () => ({
    resourceTemplates: [...resourceTemplates],
  }))
  server.setRequestHandler('resources/read', ({ params: { uri } }, ctx) =>
    within(ctx, (context) => orProtocolError(readResource(context, uri), uri)),
  )
}

export const installPrompts = (server: Server, { within }: ServerSettings): void => {
  server.setRequestHandler('prompts/list', async () => ({ prompts: [...prompts] }))
  server.setRequestHandler('prompts/get', ({ params }, ctx) =>
    within(ctx, (context) => orProtocolError(getPrompt(context, params.name, params.arguments))),
  )
}
