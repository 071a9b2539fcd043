/**
 * What each channel is to the product: how its posts are told apart, verified and read, and how a
 * message is sent. Nothing here is sent twice.
 */
import type { Channel } from '#domain/agent/channel/channel'

/** A connection with its credentials in the clear. */
export interface OpenConnection {
  id: string
  routingKey: string
  config: Readonly<Record<string, unknown>>
  credentials: Readonly<Record<string, string>>
}

/** A request of a provider, before anything of it is believed. */
export interface InboundPost {
  /** Under the public URL of the deployment, with its query: some providers sign it. */
  url: string
  headers: Headers
  body: Uint8Array
  /** Epoch milliseconds. */
  now: number
}

export type Routed =
  /** It wants this answer, and nothing else of it is read. */
  | { kind: 'handshake'; status: number; contentType: string; body: string }
  /** It names these connections, the likeliest first, each by its routing key. */
  | { kind: 'keys'; keys: string[] }
  /** It names none. */
  | { kind: 'unknown' }

/** A file that came with a message, as the sender named it. */
export interface Attachment {
  name: string
  mimeType: string
  /** Null: unknown. */
  byteSize: number | null
  /** What the adapter needs to fetch it. Null: it cannot be fetched. */
  ref: Record<string, unknown> | null
}

/** Where a message of ours goes: JSON that the adapter alone reads. It holds no secret. */
export type ReplyTo = Record<string, unknown>

export interface InboundMessage {
  /**
   * Each names the event: if one of them has come before, nothing is done. At most 300 characters
   * each.
   */
  eventIds: string[]
  /**
   * As the provider names the sender (`U012`, `+4917…`, `ada@example.com`), at most 320 characters.
   */
  sender: { id: string; name: string | null }
  /** Names the conversation of this sender in the channel. At most 300 characters. */
  thread: string
  /**
   * Whether people of one thread share a conversation: the provider vouches for who writes in it.
   */
  isShared: boolean
  subject: string | null
  /** Without quoted history and signatures. Null: `toFetch` says what brings it. */
  text: string | null
  attachments: Attachment[]
  replyTo: ReplyTo
  /** Where a message of ours reaches the sender outside of this thread. Null: nowhere. */
  directTo: ReplyTo | null
  /**
   * The text is with the provider (`ChannelAdapter.fetch`). Until it is here, nobody is answered:
   * it may be a machine's.
   */
  toFetch: Record<string, unknown> | null
}

/**
 * What a verified post holds. What is no message for us (receipts, our own messages, edits) is left
 * out.
 */
export type InboundMessages = readonly InboundMessage[]

export interface Outgoing {
  /** Names this part of this reply: the same on every try. */
  id: string
  replyTo: ReplyTo
  /** In the form of the channel. */
  text: string
  /** The same, where the channel has such a form, too. */
  html?: string | undefined
  /** 0 for the first part of a reply. */
  part: number
}

export type SendResult =
  | { kind: 'sent'; externalId: string | null }
  /**
   * Provably not sent: it can be tried again, not before `retryAfterMs` if the provider said so.
   */
  | { kind: 'unsent'; error: string; retryAfterMs?: number }
  /**
   * The provider declined it, and will again. `connection`: nothing can be sent with these
   * credentials.
   */
  | { kind: 'refused'; error: string; of: 'message' | 'connection' }
  /** It may have been sent. */
  | { kind: 'unknown'; error: string }

export type CredentialCheck =
  /**
   * The provider says that the routing key belongs to these credentials. `learned`: what it told
   * us, kept in `config`.
   */
  | { kind: 'proven'; learned?: Record<string, unknown> }
  /** It does not; a person has to mend it. */
  | { kind: 'refused'; error: string }
  /** It did not say. */
  | { kind: 'unreachable'; error: string }

/** What a post had left out of its message. */
export interface FetchedMessage {
  text: string
  attachments: Attachment[]
  /** Where only the fetch tells them, in place of what `read` said. */
  thread?: string
  replyTo?: ReplyTo
  /**
   * A machine wrote it, such as a mailing list or an out-of-office notice: nothing is done, and
   * nobody is answered.
   */
  isAutomatic?: boolean
}

/** What was fetched of a message. */
export type Fetched<V> =
  | { kind: 'fetched'; value: V }
  | { kind: 'gone'; error: string }
  | { kind: 'unreachable'; error: string }

/**
 * A message of ours that the provider had taken, and says later that it did not reach its
 * recipient.
 */
export interface UndeliveredMessage {
  /** `Outgoing.id`. */
  id: string
  /** As the provider names the message. At most 300 characters. */
  externalId: string
  error: string
}

export interface ChannelAdapter {
  readonly channel: Channel
  /**
   * Of `credentials`: names that it needs to work, and may have. Of `config`: names that it knows.
   */
  readonly fields: {
    credentials: Readonly<Record<string, { needed: boolean; description: string }>>
    config: Readonly<Record<string, { description: string }>>
  }
  /** The form of a routing key that posts name it by, or what is wrong with it, in words. */
  routingKeyOf(text: string): { key: string } | { error: string }
  /** What is wrong with values of `config`, in words. */
  configError(config: Readonly<Record<string, unknown>>): string | undefined
  /** Never throws, whatever the bytes are. */
  route(post: InboundPost): Routed
  /**
   * Whether the post was signed with the connection's secret. In constant time, and never throws.
   */
  verify(post: InboundPost, connection: OpenConnection): boolean
  /**
   * What is wrong with a verified post, naming the field: where whoever signs it can mend it. Never
   * throws.
   */
  flawOf?(post: InboundPost): string | undefined
  /** What of a verified post is for this connection. Never throws. */
  read(post: InboundPost, connection: OpenConnection): InboundMessages
  /**
   * What a verified post says of messages of this connection that were not delivered. Never throws.
   * Other reports on them are of no use to us.
   */
  undelivered?(post: InboundPost, connection: OpenConnection): readonly UndeliveredMessage[]
  /** Asks the provider whether the routing key belongs to these credentials. */
  check(connection: OpenConnection, signal: AbortSignal): Promise<CredentialCheck>
  /** One request, never repeated. */
  send(connection: OpenConnection, message: Outgoing, signal: AbortSignal): Promise<SendResult>
  /** The least time between two messages of a connection, in milliseconds. */
  readonly spacingMs: number
  /**
   * For so long the connection's provider takes a repeated `Outgoing.id` for one message, so that
   * what is unknown can be tried again.
   */
  repeatableForMs?(connection: OpenConnection): number
  /** The text, and attachments, of a message whose post had none. */
  fetch?(
    connection: OpenConnection,
    toFetch: Record<string, unknown>,
    signal: AbortSignal,
  ): Promise<Fetched<FetchedMessage>>
  /** The bytes of an attachment, at most `maxBytes`. */
  download?(
    connection: OpenConnection,
    ref: Record<string, unknown>,
    signal: AbortSignal,
  ): Promise<Fetched<Uint8Array>>
}
