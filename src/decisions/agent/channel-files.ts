/**
 * Turns the files of a member's message into documents of the workspace, for which nobody vouches.
 */

import type { MessageFile } from '#contract/records/agent/channel-message'
import type { ChannelConnection } from '#domain/agent/channel/channel'
import type { ChannelMessage } from '#domain/agent/channel/message'
import { mediaTypeOf } from '#domain/agent/channel/message'
import type { OnBehalf } from '#domain/agent/job/job'
import {
  type Document,
  hashContent,
  newDocument,
  type Wish,
} from '#domain/agent/knowledge/document'
import { type DocumentRoom, documentRoom } from '#domain/app/room'
import { AppError } from '#kernel/errors'
import { newId } from '#kernel/ids'
import type { Role } from '#kernel/roles'
import { documentStock, equalDocuments, insertDocument } from '#store/agent/documents'
import type { Sql } from '#store/engine/db'
import type { Effects, Gate } from '#store/engine/letter'
import { loadNow } from '#store/engine/load'
import { searchConfiguration } from '#store/engine/text-search'
import { profilePart } from '#store/growth/profiles'
import { newWork } from '../work.ts'

/** The roles that can add documents. */
const AUTHORS: readonly Role[] = ['owner', 'editor', 'approver']

export interface ReadFile {
  file: MessageFile
  /** Its text; undefined if it was not read. */
  content: string | undefined
}

interface Keeping {
  connection: Pick<ChannelConnection, 'id' | 'channel'>
  message: Pick<ChannelMessage, 'id'>
  by: { author: OnBehalf; role: Role | null }
}

const UNFIT = /[/\\\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu
const LONGEST_NAME = 200

/** A name that cannot be mistaken for a path. */
const fileNameOf = (name: string): string => {
  const plain = [...name.replace(UNFIT, ' ').trim()].slice(0, LONGEST_NAME).join('').trim()
  return plain === '' || /^\.+$/.test(plain) ? 'attachment' : plain
}

const refuseFile = ({ ref: _, ...file }: MessageFile, error: string): MessageFile => ({
  ...file,
  ref: null,
  error,
})

const keptAs = (
  { ref: _, error: __, ...file }: MessageFile,
  { id, file_name }: Pick<Document, 'id' | 'file_name'>,
): MessageFile => ({
  ...file,
  ref: null,
  document: { id, name: file_name },
})

interface Making {
  /** What all documents of the message have in common. */
  wish: Omit<Wish, 'id' | 'fileName' | 'content' | 'mimeType'>
  known: readonly Pick<Document, 'id' | 'file_name' | 'sha256'>[]
  stock: { count: number; pending: number }
  room: DocumentRoom
}

interface Added {
  document: Document
  content: string
}

/** Makes one document of each distinct content, as long as there is room. */
const makeDocuments = (
  read: readonly ReadFile[],
  { wish, known, stock, room }: Making,
): { files: MessageFile[]; added: Added[] } => {
  const documents = new Map(known.map((document) => [document.sha256, document]))
  const added: Added[] = []
  const files = read.map(({ file, content }) => {
    if (content === undefined) return file
    const equal = documents.get(hashContent(content))
    if (equal) return keptAs(file, equal)
    const mimeType =
      mediaTypeOf(file.mimeType) === 'text/markdown' ? ('text/markdown' as const) : undefined
    const present = {
      equal: undefined,
      count: stock.count + added.length,
      pending: stock.pending + sizeOf(added),
    }
    const made = tryTo(() =>
      newDocument(
        { ...wish, id: newId(), fileName: fileNameOf(file.name), content, mimeType },
        present,
        room,
      ),
    )
    if (typeof made === 'string') return refuseFile(file, made)
    documents.set(made.sha256, made)
    added.push({ document: made, content })
    return keptAs(file, made)
  })
  return { files, added }
}

/** The files, each with its document or the reason why it has none, and the new documents. */
export const keepFiles = async (
  { connection, message, by }: Keeping,
  read: readonly ReadFile[],
  { sql, gate }: { sql: Sql; gate: Gate },
): Promise<{ files: MessageFile[]; effects: Effects }> => {
  const contents = read.flatMap(({ content }) => content ?? [])
  if (contents.length === 0) return { files: read.map(({ file }) => file), effects: {} }
  const { author, role } = by
  if (role === null || !AUTHORS.includes(role)) {
    const refuse = ({ file, content }: ReadFile) =>
      content === undefined ? file : refuseFile(file, 'viewers cannot add documents')
    return { files: read.map(refuse), effects: {} }
  }
  const { profile, ...loaded } = await loadNow(sql, {
    known: equalDocuments(contents.map(hashContent)),
    stock: documentStock,
    profile: profilePart,
  })
  const metadata = {
    channel: connection.channel,
    connectionId: connection.id,
    messageId: message.id,
  }
  const wish = {
    role,
    author,
    metadata,
    configuration: searchConfiguration(profile.profile.language),
    now: gate.now,
  }
  const { files, added } = makeDocuments(read, { ...loaded, wish, room: documentRoom(gate) })
  const writes = added.map(({ document, content }) => insertDocument(document, content))
  const work = added.map(({ document }) =>
    newWork('ingest', { refId: document.id, origin: 'manual', runAt: gate.now }),
  )
  return { files, effects: { writes, work } }
}

const sizeOf = (added: readonly { document: Document }[]): number =>
  added.reduce((sum, { document }) => sum + document.byte_size, 0)

/** The result, or why it was refused. */
const tryTo = <T>(make: () => T): T | string => {
  try {
    return make()
  } catch (cause) {
    if (cause instanceof AppError && cause.status < 500) return cause.message
    throw cause
  }
}
