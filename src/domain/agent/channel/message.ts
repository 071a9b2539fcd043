/**
 * An incoming message of a channel: what is kept of it, and how it appears in its conversation.
 * Pure.
 */
import type { channelMessageRecord, MessageFile } from '#contract/records/agent/channel-message'
import type { RowOf } from '#contract/records/record'
import { beginning } from '#kernel/storable'

/** A message as its adapter read it. */
export interface ArrivedMessage {
  /** Each of them identifies the event. */
  eventIds: string[]
  sender: { id: string; name: string | null }
  /** As the provider names it. */
  thread: string
  isShared: boolean
  subject: string | null
  /** Null: the provider still has it. */
  text: string | null
  attachments: MessageFile[]
  replyTo: Record<string, unknown>
  directTo: Record<string, unknown> | null
  toFetch: Record<string, unknown> | null
}

export type ChannelMessage = RowOf<typeof channelMessageRecord>

export const messageLimits = {
  errorLength: 300,
  /** How much of a text the agent is given, in characters; the same as for a message in the app. */
  textLength: 10_000,
  /** Files of one message that are read; the others are only named. */
  filesRead: 5,
  /** In bytes: for one file, and for all files of a message that are read. */
  fileBytes: 1_048_576,
  bytes: 2 * 1_048_576,
} as const

/** The message has no effect, and nothing more is fetched. */
export const failedMessage = (
  message: ChannelMessage,
  error: string,
  now: Date,
): ChannelMessage => ({
  ...message,
  attachments: message.attachments.map((file) => ({ ...file, ref: null })),
  state: 'failed',
  error: beginning(error, messageLimits.errorLength),
  to_fetch: null,
  updated_at: now,
})

/** The pause before the next fetch, by the number of failures so far. */
const PAUSES_MS = [2_000, 10_000, 60_000, 300_000]
const LATE_PAUSE_MS = 3_600_000
const GIVEN_UP_AFTER_MS = 86_400_000

/** Whether it has waited so long that its sender no longer expects an answer. */
export const isTooOld = ({ created_at }: Pick<ChannelMessage, 'created_at'>, at: Date): boolean =>
  at.getTime() - created_at.getTime() >= GIVEN_UP_AFTER_MS

/**
 * When to fetch it again after so many failures in a row. Undefined: it is given up, or goes on
 * without what is missing. The text is worth waiting for; no answer is held back for a file.
 */
export const nextFetch = (
  message: Pick<ChannelMessage, 'created_at'>,
  { failures, hasText, now }: Failed,
): Date | undefined => {
  const short = PAUSES_MS[failures - 1]
  const next = new Date(now.getTime() + (short ?? LATE_PAUSE_MS))
  return short === undefined && (hasText || isTooOld(message, next)) ? undefined : next
}

interface Failed {
  failures: number
  hasText: boolean
  now: Date
}

const TEXT_TYPES: readonly string[] = ['text/plain', 'text/markdown']

/** The type without parameters such as the character set. */
export const mediaTypeOf = (mimeType: string): string =>
  mimeType.split(';', 1)[0]!.trim().toLowerCase()

/** Why files of strangers are only named. */
export const STRANGERS_FILES = 'only those of members are read'

/** Why a file is only named; undefined if it can be read. */
const flawOf = ({ mimeType, byteSize, ref }: MessageFile): string | undefined => {
  if (!TEXT_TYPES.includes(mediaTypeOf(mimeType))) return 'only text and Markdown are read'
  if (byteSize !== null && byteSize > messageLimits.fileBytes) return 'it is larger than 1 MiB'
  return ref === null ? 'it cannot be fetched' : undefined
}

const refuseFile = ({ ref: _, ...file }: MessageFile, error: string): MessageFile => ({
  ...file,
  ref: null,
  error,
})

/** The files, with the reason why each unread one is not read. `refusal`: why none of them is. */
export const sortFiles = (files: readonly MessageFile[], refusal?: string): MessageFile[] => {
  let [read, room] = [0, messageLimits.bytes]
  return files.map((file) => {
    if (file.document || file.error !== undefined) return file
    const flaw = refusal ?? flawOf(file)
    if (flaw !== undefined) return refuseFile(file, flaw)
    room -= file.byteSize ?? 0
    if (++read > messageLimits.filesRead || room < 0)
      return refuseFile(file, 'the message has too many, or they are too large together')
    return file
  })
}

/** Whether something must still be fetched from the provider. */
export const isToBeFetched = ({
  text,
  attachments,
}: Pick<ArrivedMessage, 'text' | 'attachments'>): boolean =>
  text === null || attachments.some(({ ref, document }) => ref !== null && !document)

const sizeOf = (bytes: number | null): string => (bytes === null ? '' : `, ${bytes} bytes`)

const lineOf = ({ name, mimeType, byteSize, document, error }: MessageFile): string => {
  const what = `[Attachment: ${JSON.stringify(name)}, ${mimeType}${sizeOf(byteSize)}`
  if (document)
    return `${what}; its text is the document ${document.id}, ${JSON.stringify(document.name)}]`
  return `${what}; not read: ${error ?? 'it cannot be fetched'}]`
}

/** The message as the agent is given it; empty if it contains nothing. */
export const messageContent = ({
  subject,
  text,
  attachments,
  error,
}: Pick<ChannelMessage, 'subject' | 'text' | 'attachments' | 'error'>): string => {
  const words = (text ?? '').trim()
  const shown = beginning(words, messageLimits.textLength)
  const cut =
    shown.length < words.length
      ? [`[The text goes on for ${words.length - shown.length} characters, which were not read.]`]
      : []
  const missing = error === null ? [] : [`[Not all of the message could be read: ${error}]`]
  const heading = subject?.trim() ? [`Subject: ${subject.trim()}`] : []
  const body = [...(shown === '' ? [] : [shown]), ...cut, ...attachments.map(lineOf)]
  return body.length === 0 && heading.length === 0
    ? ''
    : [...heading, ...body, ...missing].join('\n\n')
}
