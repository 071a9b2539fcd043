/** Downloads by the token of a share, without any other credential. */
import { networkOf } from '#domain/app/network-of'
import { fail } from '#kernel/errors'
import type { Slots } from '#kernel/fair-limit'
import type { Log } from '#kernel/log'
import { hashOfToken } from '#ops/agent/artifacts'
import type { StoredFile } from '#ops/engine/call'
import type { Files } from '#port/files/files'
import { sharedArtifact, tenantOfShare } from '#store/agent/artifacts'
import type { Db } from '#store/engine/db'
import { bytesResponse } from '../bytes.ts'
import type { Incoming } from '../incoming.ts'
import { requestIdOf } from '../respond.ts'
import type { Route } from '../route.ts'

export interface SharedFileDeps {
  db: Db
  files: Files
  fileSlots: Slots
  log: Log
}

/** No workspace has this id. */
const NOBODY = '00000000-0000-0000-0000-000000000000'

/**
 * Whatever the token is, two statements look for it. The token of a share that never existed, has
 * expired, was revoked or belongs to a deleted artifact finds no workspace, and then no file among
 * those of nobody. So nothing tells these cases apart, not even the time that the answer takes.
 */
const sharedFile = async (
  { db, files }: SharedFileDeps,
  token: string,
): Promise<StoredFile & { tenantId: string }> => {
  const hash = hashOfToken(token)
  const tenantId = (await tenantOfShare(db, hash)) ?? NOBODY
  const read: Parameters<typeof sharedArtifact>[0] = (query) => db.read({ tenantId }, query)
  const { file, file_name, mime_type } =
    (await sharedArtifact(read, hash)) ?? fail('not_found', 'no such share')
  return {
    tenantId,
    name: file_name,
    mimeType: mime_type,
    byteSize: file.byte_size,
    sha256: file.sha256,
    read: (range, signal) => files.read(file, { tenantId, read, range, signal }),
  }
}

/**
 * The token is part of the address, so nothing that the file links to may learn the address, and no
 * search engine may store it.
 */
const headers = { 'referrer-policy': 'no-referrer', 'x-robots-tag': 'noindex' }

const send = async (deps: SharedFileDeps, incoming: Incoming): Promise<Response> => {
  const { request, params } = incoming
  const file = await sharedFile(deps, params?.token ?? '')
  const holder = { party: networkOf(incoming.address()), workspace: `shares of ${file.tenantId}` }
  return bytesResponse(file, {
    request,
    requestId: requestIdOf(request),
    slots: deps.fileSlots,
    holder,
    log: deps.log,
    headers,
  })
}

export const sharedFileRoutes = (deps: SharedFileDeps): Route[] => [
  {
    method: 'GET',
    path: '/api/v1/artifacts/shared/:token',
    respond: (incoming) => send(deps, incoming),
  },
]
