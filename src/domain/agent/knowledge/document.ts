/**
 * A workspace's text files: which are accepted, what becomes of them, and how their passages are
 * cited.
 */
import { createHash } from 'node:crypto'
import { documentRecord, type passageRecord } from '#contract/records/agent/document'
import type { RowOf } from '#contract/records/record'
import { viewOf } from '#contract/records/view'
import { fail } from '#kernel/errors'
import type { Role } from '#kernel/roles'
import type { DocumentRoom } from '../../app/room.ts'
import type { OnBehalf } from '../job/job.ts'
import { requireDocumentRoom } from './document-room.ts'

export type Document = RowOf<typeof documentRecord>

/** A stored passage, with the file's name. */
export type StoredPassage = Omit<RowOf<typeof passageRecord>, 'spaced'> &
  Pick<Document, 'file_name' | 'trusted'>

export const documentLimits = {
  /** The longest content, in bytes of UTF-8. */
  bytes: 1_048_576,
  metadataBytes: 16_384,
  /** A document with more passages is refused: it has more headings than text. */
  passages: 4_096,
  /** A document fails after its reading has killed the process this many times. */
  deaths: 3,
} as const
/** Passages whose words share one index row; one letter writes this many. */
export const BLOCK = 64
/** Passages that the agent can read at once. */
export const READ_AT_ONCE = 5

export const hashContent = (content: string): string =>
  createHash('sha256').update(content).digest('hex')

const mimeTypeOf = (fileName: string): Document['mime_type'] =>
  /\.(md|markdown)$/i.test(fileName) ? 'text/markdown' : 'text/plain'

const refuse = (path: string, message: string): never =>
  fail('invalid_input', `${path} ${message}`, { details: [{ path, message }] })

export interface Wish {
  id: string
  fileName: string
  content: string
  mimeType: Document['mime_type'] | undefined
  metadata: Record<string, unknown>
  author: OnBehalf
  /** The role of the person or key that adds it. */
  role: Role
  configuration: string
  now: Date
}

interface Present {
  /** A document with equal content. */
  equal: Pick<Document, 'id' | 'file_name' | 'status'> | undefined
  count: number
  /** Bytes of texts that are still to be read. */
  pending: number
}

/** Throws `invalid_input`. */
const requireSizes = (byteSize: number, metadata: Wish['metadata']): void => {
  if (byteSize > documentLimits.bytes)
    refuse(
      'content',
      `must have at most ${documentLimits.bytes} bytes as UTF-8, and has ${byteSize}`,
    )
  if (Buffer.byteLength(JSON.stringify(metadata)) > documentLimits.metadataBytes)
    refuse('metadata', `must have at most ${documentLimits.metadataBytes} bytes as JSON`)
}

/** Throws `conflict`. */
const requirePlace = ({ equal, count }: Present, { documents }: DocumentRoom): void => {
  if (equal)
    fail(
      'conflict',
      `this content is document ${equal.id} already, ${equal.file_name}, which is ${equal.status}`,
      { reason: 'duplicate' },
    )
  if (count >= documents)
    fail('conflict', `the plan's limit of ${documents} documents is reached; delete one first`, {
      reason: 'limit_reached',
    })
}

/** Throws `invalid_input`, `forbidden` and `conflict`. */
export const newDocument = (wish: Wish, present: Present, room: DocumentRoom): Document => {
  const {
    id,
    fileName,
    content,
    metadata,
    mimeType = mimeTypeOf(fileName),
    author,
    configuration,
    now,
  } = wish
  const byte_size = Buffer.byteLength(content)
  requireSizes(byte_size, metadata)
  const trusted = isVouchedFor(wish)
  requirePlace(present, room)
  requireDocumentRoom(room, present.pending, byte_size)
  return {
    ...documentRecord.blank,
    id,
    file_name: fileName,
    mime_type: mimeType,
    byte_size,
    length: content.length,
    sha256: hashContent(content),
    metadata,
    trusted,
    status: 'queued',
    passages: 0,
    configuration,
    author,
    created_at: now,
    updated_at: now,
  }
}

/**
 * Whether somebody answers for what the document says. Only a person, or a key of the owner, can.
 */
const isVouchedFor = ({ metadata, author, role }: Wish): boolean => {
  const { trusted } = metadata
  if (trusted === undefined || trusted === false) return false
  if (trusted !== true) refuse('metadata.trusted', 'must be true or false')
  if (author.kind !== 'session' && role !== 'owner')
    fail('forbidden', 'metadata.trusted: only a person, or a key of the owner, can vouch')
  return true
}

/** Whether the agent may also show it to outsiders, as decided when it was added. */
export const isPublic = ({ metadata }: Pick<Document, 'metadata'>): boolean =>
  metadata.public === true

/** Throws `conflict`. */
export const retryReading = (
  document: Document,
  now: Date,
  { pending, room }: Pick<Present, 'pending'> & { room: DocumentRoom },
): Document => {
  if (document.status !== 'failed')
    fail('conflict', `cannot retry: the document is ${document.status}, not failed`, {
      reason: 'wrong_state',
    })
  requireDocumentRoom(room, pending, document.byte_size)
  return { ...document, status: 'queued', error: null, updated_at: now }
}

export const beginReading = (document: Document, now: Date): Document => ({
  ...document,
  status: 'processing',
  updated_at: now,
})

export const failReading = (document: Document, error: string, now: Date): Document => ({
  ...document,
  status: 'failed',
  error,
  updated_at: now,
})

export const ready = (document: Document, passages: number, now: Date): Document => ({
  ...document,
  status: 'ready',
  passages,
  updated_at: now,
})

/** Why a document with so many passages cannot be searched. */
export const flawOf = (passages: number): string | undefined => {
  if (passages === 0) return 'no_text: it has no letters or digits'
  return passages > documentLimits.passages
    ? `too_many_passages: it has more than ${documentLimits.passages}; divide it, or use fewer headings`
    : undefined
}

export const documentView = viewOf(documentRecord)

/** The page that shows a passage. */
export const passagePath = (id: string, at: number): string => `/documents/${id}?at=${at}`

/**
 * Makes a name or a heading safe inside a link's text or brackets, which nothing in it may close.
 */
export const stripBrackets = (text: string): string =>
  text.replace(/[[\]()<>`!\\\s]+/gu, ' ').trim()

const headingOf = (path: readonly string[]): string | null =>
  path.length === 0 ? null : path.join(' › ')

/**
 * `publicUrl`: the base URL of links, without a trailing slash; null for outsiders, who cannot open
 * the page of a passage.
 */
export const passageView = (
  { document_id, file_name, number, path, start_at, end_at, text }: StoredPassage,
  publicUrl: string | null,
) => {
  const heading = headingOf(path)
  const place = [file_name, heading ?? [], `${start_at}–${end_at}`]
    .flat()
    .map(stripBrackets)
    .join(', ')
  const cite =
    publicUrl === null ? place : `[${place}](${publicUrl}${passagePath(document_id, start_at)})`
  return {
    documentId: document_id,
    fileName: file_name,
    number,
    heading,
    start: start_at,
    end: end_at,
    text,
    cite,
  }
}
