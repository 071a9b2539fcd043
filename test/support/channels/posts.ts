import type { InboundPost } from '#port/channel/channel'

/** A request as the edge hands it to an adapter. */
export const postOf = async (request: Request, now = Date.now()): Promise<InboundPost> => ({
  url: request.url,
  headers: request.headers,
  now,
  body: new Uint8Array(await request.arrayBuffer()),
})
