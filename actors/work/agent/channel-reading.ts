import { fetchedOf } from '#decisions/agent/channel-bounds'
import { openConnection } from '#decisions/agent/channel-connections'
import type { ReadFile } from '#decisions/agent/channel-files'
import type { ChannelConnection } from '#domain/agent/channel/channel'
import {
  type ChannelMessage,
  messageLimits,
  STRANGERS_FILES,
  sortFiles,
} from '#domain/agent/channel/message'
import type { Failpoints } from '#kernel/failpoint'
import type { Sealer } from '#kernel/sealer'
import { beginning, storable } from '#kernel/storable'
import type { ChannelAdapter, OpenConnection } from '#port/channel/channel'
import type { ChannelAdapters } from '#port/channel/registry'
import type { LaneContext } from '../../engine/lane.ts'

export interface ReadingDeps {
  adapters: ChannelAdapters
  sealer: Sealer
  failpoints: Failpoints
}

export interface Fetching {
  message: ChannelMessage
  connection: ChannelConnection
  sealed: { credentials: string | null }
}

/** `text`: null if there is none. `missing`: what could not be read this time. */
export interface ReadMessage {
  kind: 'read'
  text: string | null
  changes: Partial<Pick<ChannelMessage, 'thread' | 'reply_to'>>
  isAutomatic: boolean
  files: ReadFile[]
  missing: string | null
  /** What later tries will not find either. */
  gone: string | null
}
export const FETCH_MS = 60_000
const LONGEST_ERROR = 300

export const readLeft = async (
  deps: ReadingDeps,
  { message, connection, sealed }: Fetching,
  context: LaneContext,
): Promise<ReadMessage | { kind: 'stopped' }> => {
  await deps.failpoints('agent.channel.fetching')
  const adapter = deps.adapters[connection.channel]
  const open = openConnection(deps.sealer, { connection, sealed })
  const signal = AbortSignal.any([context.signal, AbortSignal.timeout(FETCH_MS)])
  const read = await readMessage(adapter, open, message, signal)
  await deps.failpoints('agent.channel.fetched')
  return context.signal.aborted ? { kind: 'stopped' } : read
}

const readMessage = async (
  adapter: ChannelAdapter | undefined,
  open: OpenConnection,
  message: ChannelMessage,
  signal: AbortSignal,
): Promise<ReadMessage> => {
  const nothing: ReadMessage = {
    kind: 'read',
    text: message.text,
    changes: {},
    isAutomatic: false,
    files: [],
    missing: null,
    gone: null,
  }
  if (message.text !== null)
    return withFiles(adapter, open, { ...nothing, attachments: message.attachments }, signal)
  const fetched = await adapter?.fetch?.(open, message.to_fetch ?? {}, signal)
  if (fetched?.kind === 'unreachable') return { ...nothing, missing: fetched.error }
  if (fetched?.kind !== 'fetched')
    return {
      ...nothing,
      gone: fetched?.error ?? 'this deployment cannot fetch messages of the channel',
    }
  const { text, attachments, isAutomatic, ...changes } = fetchedOf(fetched.value)
  const files = sortFiles(attachments, message.identity_id === null ? STRANGERS_FILES : undefined)
  return withFiles(
    adapter,
    open,
    { ...nothing, text, changes, isAutomatic, attachments: files },
    signal,
  )
}

const withFiles = async (
  adapter: ChannelAdapter | undefined,
  open: OpenConnection,
  { attachments, ...read }: ReadMessage & Pick<ChannelMessage, 'attachments'>,
  signal: AbortSignal,
): Promise<ReadMessage> => {
  const files: ReadFile[] = []
  let missing: string | null = null
  for (const file of attachments) {
    if (file.ref === null || read.isAutomatic) {
      files.push({ file, content: undefined })
      continue
    }
    const fetched = await adapter?.download?.(open, file.ref, signal)
    if (fetched?.kind === 'unreachable') missing = fetched.error
    const content =
      fetched?.kind === 'fetched'
        ? textOf(fetched.value)
        : { error: fetched?.error ?? 'it cannot be fetched' }
    files.push(
      typeof content === 'string'
        ? { file, content }
        : {
            file: { ...file, error: beginning(storable(content.error), LONGEST_ERROR) },
            content: undefined,
          },
    )
  }
  return { ...read, files, missing }
}

const textOf = (bytes: Uint8Array): string | { error: string } => {
  if (bytes.byteLength > messageLimits.fileBytes) return { error: 'it is larger than 1 MiB' }
  try {
    const text = storable(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
    return text.trim() === '' ? { error: 'it is empty' } : text
  } catch {
    return { error: 'it is not UTF-8' }
  }
}
