/** Documents in tests. */
import { type Document, newDocument, ready } from '#domain/agent/knowledge/document'
import { passagesOf } from '#domain/agent/knowledge/passages'
import { newId } from '#kernel/ids'
import { scopes } from '#kernel/scopes'
import { insertDocument, insertPassages, insertWords, saveDocument } from '#store/agent/documents'
import type { Reply, TestApp } from '../app.ts'
import { type Workspace, write } from '../arrange.ts'
import { eventually } from '../eventually.ts'

const aKey = { kind: 'key', id: newId(), personId: null } as const

interface Wish {
  fileName?: string
  content?: string
  trusted?: boolean
  metadata?: Record<string, unknown>
  /** As it is when added: not read yet. */
  status?: 'queued' | 'failed'
}

/** A document of a few passages, ready unless told otherwise. */
export const makeDocument = async (
  place: Pick<Workspace, 'app' | 'tenantId'>,
  {
    fileName = 'returns.md',
    content = `# Returns\n\nParcels come back within 30 days. ${newId()}`,
    trusted = false,
    metadata = {},
    status,
  }: Wish = {},
): Promise<Document> => {
  const now = new Date()
  const given = {
    id: newId(),
    fileName,
    content,
    mimeType: undefined,
    metadata: { ...metadata, ...(trusted ? { trusted } : {}) },
    author: aKey,
  }
  const wish = { ...given, role: 'owner', configuration: 'english', now } as const
  const document = newDocument(
    wish,
    { equal: undefined, count: 0, pending: 0 },
    { documents: 1, used: 0, limit: 100_000_000 },
  )
  await write(place, { writes: [insertDocument(document, content)] })
  if (status === 'queued') return document
  const end =
    status === 'failed'
      ? { ...document, status, error: 'no_text: nothing' }
      : await index(place, document, content)
  await write(place, { writes: [saveDocument(end)] })
  return end
}

const index = async (
  place: Pick<Workspace, 'app' | 'tenantId'>,
  document: Document,
  content: string,
): Promise<Document> => {
  const passages = [...passagesOf(content, document.mime_type === 'text/markdown')]
    .flatMap((one) => one ?? [])
    .slice(0, 64)
  const kept = passages.map(({ number, path, start, end }) => {
    const text = content.slice(start, end)
    return {
      number,
      path,
      start_at: start,
      end_at: end,
      text,
      spaced: null,
      searched: [...path, text].join('\n'),
    }
  })
  const block = { documentId: document.id, configuration: document.configuration, passages: kept }
  await write(place, { writes: [insertPassages(block), insertWords(block)] })
  return ready(document, kept.length, new Date())
}

/** Allows for a document of a megabyte on a busy machine. */
const READ_WITHIN_MS = 60_000

/** A workspace with a key, and what its people do with documents. */
export const documentStory = async (app: TestApp) => {
  const { tenantId } = await app.newWorkspace()
  const { api_key: key } = await app.newKey([...scopes], tenantId)
  // biome-ignore lint/suspicious/noExplicitAny: answers of every shape
  const send = (method: string, path: string, body?: unknown, by = key): Promise<Reply<any>> =>
    app.send(method, `/api/v1/documents${path}`, {
      key: by,
      ...(body === undefined ? {} : { body }),
    })
  const add = (body: object = {}, by?: string) =>
    send('POST', '', { fileName: 'returns.md', content: `# Returns\n\n${newId()}`, ...body }, by)
  const show = async (id: string) => (await send('GET', `/${id}`)).body.document
  /** Waits until it is read. */
  const over = async (id: string) => {
    const status = async () => (await send('GET', `/${id}?at=0`)).body.document.status
    await eventually(status, (now) => now === 'ready' || now === 'failed', READ_WITHIN_MS)
    return show(id)
  }
  const added = async (body: object = {}) => over((await add(body)).body.document.id)
  const search = async (q: string, query = '') =>
    (await send('GET', `/search?q=${encodeURIComponent(q)}${query}`)).body.passages
  return { app, tenantId, key, send, add, added, show, over, search }
}

/** What the schema of an operation cannot say about a valid input. */
export const documentInputs = {
  'agent.documents.add': (_: unknown, extent: string) => ({
    content: `Parcels come back. ${newId()}`,
    ...(extent === 'whole' ? { metadata: { team: 'care' } } : {}),
  }),
  'agent.documents.get': (_: unknown, extent: string) => (extent === 'whole' ? { at: 0 } : {}),
}
