/** As whom this deployment asks for access to accounts: documents that networks read. */
import { AppError } from '#kernel/errors'
import type { Log } from '#kernel/log'
import type { BlueskyNetwork } from '#port/network/bluesky/network'
import { oauthPaths } from '#port/network/bluesky/oauth/client'
import type { Incoming } from '../incoming.ts'
import { errorResponse, JSON_TYPE, requestIdOf } from '../respond.ts'
import type { Route } from '../route.ts'

interface ClientDeps {
  bluesky: Pick<BlueskyNetwork, 'oauth'>
  log: Log
}

const NO_CLIENT = 'only a deployment with an https address has these documents'

const respond =
  ({ bluesky, log }: ClientDeps, document: () => object | Promise<object>) =>
  async ({ request }: Incoming): Promise<Response> => {
    const requestId = requestIdOf(request)
    try {
      if (bluesky.oauth.kind !== 'confidential') throw new AppError('not_found', NO_CLIENT)
      return new Response(JSON.stringify(await document()), {
        headers: {
          'content-type': JSON_TYPE,
          'cache-control': 'public, max-age=300',
          'x-request-id': requestId,
        },
      })
    } catch (cause) {
      const error = AppError.from(cause)
      if (error.status >= 500)
        log.error({ err: cause, request_id: requestId }, 'no client document')
      return errorResponse(error, requestId)
    }
  }

export const oauthClientRoutes = (deps: ClientDeps): Route[] => [
  {
    method: 'GET',
    path: oauthPaths.metadata,
    respond: respond(deps, () => deps.bluesky.oauth.metadata()),
  },
  {
    method: 'GET',
    path: oauthPaths.keySet,
    respond: respond(deps, () => deps.bluesky.oauth.keySet()),
  },
]
