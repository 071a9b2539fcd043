import { newId } from '#kernel/ids'
import { eventually, type Reply } from '#test/support/app'
import { type Place, unwritable } from './place.ts'
import type { Rows } from './row.ts'

const DOCUMENTS = '/api/v1/documents'
const ARTIFACTS = '/api/v1/artifacts'
const ACTIONS = '/api/v1/actions'
const MCP = '/api/v1/mcp'

const aDocument = (content = `# Returns\n\nParcels come back. ${newId()}`) => ({
  fileName: 'returns.md',
  content,
  mimeType: 'text/markdown',
})

/** A document once it has been read. */
const read = async ({ made }: Place, content?: string): Promise<string> => {
  const { document } = await made('POST', DOCUMENTS, aDocument(content))
  await eventually(
    () => made('GET', `${DOCUMENTS}/${document.id}`),
    (shown) => shown.document.status === 'ready' || shown.document.status === 'failed',
  )
  return document.id
}
/** Nothing in it can be searched for. */
const failed = (place: Place): Promise<string> =>
  read(place, '-'.repeat(1 + Math.floor(Math.random() * 500)))

export const documentRows: Rows = {
  'GET /api/v1/documents': {
    calls: ({ send }) => ({ 200: () => send('GET', `${DOCUMENTS}?limit=100`) }),
  },
  'POST /api/v1/documents': {
    body: aDocument(),
    calls: async (place) => {
      const there = aDocument()
      await place.made('POST', DOCUMENTS, there)
      const send = (body: object) => place.send('POST', DOCUMENTS, body)
      return {
        201: () => send(aDocument()),
        400: () => send({ ...aDocument(), mimeType: 'application/pdf' }),
        409: () => send(there),
        500: () => unwritable(place, 'document', () => send(aDocument())),
      }
    },
  },
  'GET /api/v1/documents/{id}': {
    calls: async (place) => {
      const id = await read(place)
      return { 200: () => place.send('GET', `${DOCUMENTS}/${id}`) }
    },
  },
  'DELETE /api/v1/documents/{id}': {
    calls: async (place) => {
      const id = await read(place)
      return { 200: () => place.send('DELETE', `${DOCUMENTS}/${id}`) }
    },
  },
  'POST /api/v1/documents/{id}/retry': {
    calls: async (place) => {
      const [bad, good] = [await failed(place), await read(place)]
      return {
        202: () => place.send('POST', `${DOCUMENTS}/${bad}/retry`),
        409: () => place.send('POST', `${DOCUMENTS}/${good}/retry`),
      }
    },
  },
}

const newArtifact = async ({ made }: Place): Promise<string> => {
  const file = {
    fileName: 'late.csv',
    kind: 'data',
    mimeType: 'text/csv',
    content: `name\n${newId()}\n`,
  }
  return (await made('POST', `${ACTIONS}/create_artifact`, file)).result.artifact.id
}
const newShare = async (place: Place) => {
  const artifact = await newArtifact(place)
  const { share, token } = await place.made('POST', `${ARTIFACTS}/${artifact}/shares`, {
    expiresInDays: 1,
  })
  return { artifact, share: share.id as string, token: token as string }
}
const onArtifact = (method: string, rest = '') => ({
  calls: async (place: Place) => {
    const id = await newArtifact(place)
    return { 200: () => place.send(method, `${ARTIFACTS}/${id}${rest}`) }
  },
})

export const artifactRows: Rows = {
  'GET /api/v1/artifacts': {
    calls: ({ send }) => ({ 200: () => send('GET', `${ARTIFACTS}?limit=100`) }),
  },
  'GET /api/v1/artifacts/{id}': onArtifact('GET'),
  'DELETE /api/v1/artifacts/{id}': onArtifact('DELETE'),
  'GET /api/v1/artifacts/{id}/download': onArtifact('GET', '/download'),
  'POST /api/v1/artifacts/{id}/shares': {
    calls: async (place) => {
      const id = await newArtifact(place)
      return { 201: () => place.send('POST', `${ARTIFACTS}/${id}/shares`, { expiresInDays: 90 }) }
    },
  },
  'DELETE /api/v1/artifacts/{id}/shares/{shareId}': {
    calls: async (place) => {
      const { artifact, share } = await newShare(place)
      return { 200: () => place.send('DELETE', `${ARTIFACTS}/${artifact}/shares/${share}`) }
    },
  },
  'GET /api/v1/artifacts/shared/{token}': {
    unknown: 'A'.repeat(43),
    calls: async (place) => {
      const { token } = await newShare(place)
      return { 200: () => place.send('GET', `${ARTIFACTS}/shared/${token}`, undefined, null) }
    },
  },
}

export const actionRows: Rows = {
  'POST /api/v1/actions/{name}': {
    unknown: 'no_such_tool',
    body: {},
    calls: ({ send }) => {
      const call = (name: string, body: object) => send('POST', `${ACTIONS}/${name}`, body)
      return {
        200: () => call('get_current_time', {}),
        400: () => call('get_current_time', { timeZone: 7 }),
        // A host that is not on the list.
        409: () => call('fetch_url', { url: 'https://example.com/' }),
        422: () => call('read_playbook', { slug: 'no-such-playbook' }),
      }
    },
  },
  'GET /health': { calls: ({ send }) => ({ 200: () => send('GET', '/health', undefined, null) }) },
}

const INITIALIZE = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: {
    protocolVersion: '2025-06-18',
    capabilities: {},
    clientInfo: { name: 'codes', version: '1' },
  },
}
const accept = 'application/json, text/event-stream'

/** A request to the MCP endpoint. Of a stream, only the beginning is read. */
const mcp = async (
  { server }: Place,
  {
    method,
    key,
    session,
    body,
  }: { method: string; key: string | null; session?: string; body?: object },
): Promise<Pick<Reply, 'status' | 'text'> & { session: string | null }> => {
  const headers: Record<string, string> = { accept, 'content-type': 'application/json' }
  if (key !== null) headers.authorization = `Bearer ${key}`
  if (session !== undefined) headers['mcp-session-id'] = session
  const over = new AbortController()
  const response = await fetch(`${server.url}${MCP}`, {
    method,
    headers,
    signal: over.signal,
    ...(body ? { body: JSON.stringify(body) } : {}),
  })
  const { status } = response
  if (method !== 'GET' || status !== 200)
    return { status, text: await response.text(), session: response.headers.get('mcp-session-id') }
  over.abort()
  return { status, text: '', session: null }
}

const onMcp = (method: string) => ({
  calls: async (place: Place) => {
    const without = await place.newKey(['api:read', 'api:write'])
    const body = method === 'POST' ? { body: INITIALIZE } : {}
    const open = await mcp(place, { method: 'POST', key: place.key, body: INITIALIZE })
    const session = method === 'POST' ? {} : { session: open.session! }
    const send = (key: string | null) => mcp(place, { method, key, ...body, ...session })
    return { 200: () => send(place.key), 401: () => send(null), 403: () => send(without) }
  },
})

export const mcpRows: Rows = {
  'POST /api/v1/mcp': { body: INITIALIZE, ...onMcp('POST') },
  'GET /api/v1/mcp': onMcp('GET'),
  'DELETE /api/v1/mcp': onMcp('DELETE'),
  'GET /api/v1/mcp/servers': {
    calls: ({ send }) => ({ 200: () => send('GET', `${MCP}/servers`) }),
  },
  'POST /api/v1/mcp/servers': {
    body: { name: 'Shop' },
    calls: ({ send, person }) => ({
      201: () => send('POST', `${MCP}/servers`, { name: 'Shop' }, person),
      400: () => send('POST', `${MCP}/servers`, { name: 'Shop', colour: 'red' }, person),
    }),
  },
  'DELETE /api/v1/mcp/servers/{id}': {
    calls: async (place) => {
      const { server } = await place.made(
        'POST',
        `${MCP}/servers`,
        { name: 'Old shop' },
        place.person,
      )
      return {
        200: () => place.send('DELETE', `${MCP}/servers/${server.id}`, undefined, place.person),
      }
    },
  },
}
