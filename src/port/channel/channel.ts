/**
 * What each channel is to the product: how its posts are told apart, verified and read, and how a
 * message is sent. Nothing here is ever sent twice.
 */
import type { Channel } from '#domain/agent/channel/channel'

/** A connection with its credentials in the clear. */
export interface OpenConnection {
  id: string
  routingKey: string
  config: Readonly<Record<string, unknown>>
  credentials: Readonly<Record<string, string>>
}

/** A request from a provider, before anything in it is believed. */
export interface InboundPost {
  /**
   * The URL under the public URL of the deployment, with its query, because some providers sign it.
   */
  url: string
  headers: Headers
  body: Uint8Array
  /** Epoch milliseconds. */
  now: number
}

export type Routed =
  /** The provider wants this answer. Nothing else in the post is read. */
  | { kind: 'handshake'; status: number; contentType: string; body: string }
  /** The post names these connections by their routing keys, the likeliest first. */
  | { kind: 'keys'; keys: string[] }
  /** The post names no connection. */
  | { kind: 'unknown' }

/** A file that came with a message, as the sender named it. */
export interface Attachment {
  name: string
  mimeType: string
  /** Null if unknown. */
  byteSize: number | null
  /** What the adapter needs to fetch it. Null if it cannot be fetched. */
  ref: Record<string, unknown> | null
}

/** Where one of our messages goes, as JSON that only the adapter reads. It holds no secret. */
export type ReplyTo = Record<string, unknown>

export interface InboundMessage {
  /**
   * Names of the event. If any of them has come before, nothing is done. Each has at most 300
   * characters.
   */
  eventIds: string[]
  /**
   * The sender in the provider's terms (`U012`, `+4917…`, `ada@example.com`), at most 320
   * characters.
   */
  sender: { id: string; name: string | null }
  /** The name of this sender's conversation in the channel, at most 300 characters. */
  thread: string
  /**
   * Whether the people of one thread share a conversation. They do where the provider vouches for
   * who writes in it.
   */
  isShared: boolean
  subject: string | null
  /**
   * The text without quoted history and signatures. Null if it has to be fetched; see `toFetch`.
   */
  text: string | null
  attachments: Attachment[]
  replyTo: ReplyTo
  /** Where one of our messages reaches the sender outside this thread. Null if nowhere. */
  directTo: ReplyTo | null
  /**
   * Set if the provider still has the text (`ChannelAdapter.fetch`). Until it is here, nobody is
   * answered, because a machine may have written it.
   */
  toFetch: Record<string, unknown> | null
}

/**
 * The messages in a verified post. Leaves out what is not a message for us, such as receipts, our
 * own messages and edits.
 */
export type InboundMessages = readonly InboundMessage[]

export interface Outgoing {
  /** The id of this part of this reply, the same on every try. */
  id: string
  replyTo: ReplyTo
  /** The text in the channel's form. */
  text: string
  /** The same text as HTML, if the channel has such a form. */
  html?: string | undefined
  /** 0 for the first part of a reply. */
  part: number
}

export type SendResult =
  | { kind: 'sent'; externalId: string | null }
  /**
   * The message was provably not sent. It can be tried again, but not before `retryAfterMs` if the
   * provider said so.
   */
  | { kind: 'unsent'; error: string; retryAfterMs?: number }
  /**
   * The provider declined the message and will do so again. `connection`: nothing can be sent with
   * these credentials.
   */
  | { kind: 'refused'; error: string; of: 'message' | 'connection' }
  /** The message may have been sent. */
  | { kind: 'unknown'; error: string }

export type CredentialCheck =
  /**
   * The provider says that the routing key belongs to these credentials. `learned`: what else it
   * told us, which is kept in `config`.
   */
  | { kind: 'proven'; learned?: Record<string, unknown> }
  /** The provider says that it does not. A person has to correct something. */
  | { kind: 'refused'; error: string }
  /** The provider did not say. */
  | { kind: 'unreachable'; error: string }

/** The parts of a message that its post left out. */
export interface FetchedMessage {
  text: string
  attachments: Attachment[]
  /** The thread, if only the fetch tells it. Replaces what `read` said. */
  thread?: string
  replyTo?: ReplyTo
  /**
   * Whether a machine wrote it, such as a mailing list or an out-of-office notice. Then nothing is
   * done, and nobody is answered.
   */
  isAutomatic?: boolean
}

/** The result of fetching something that belongs to a message. */
export type Fetched<V> =
  | { kind: 'fetched'; value: V }
  | { kind: 'gone'; error: string }
  | { kind: 'unreachable'; error: string }

/**
 * One of our messages that the provider accepted, and later reported as not delivered to its
 * recipient.
 */
export interface UndeliveredMessage {
  /** `Outgoing.id`. */
  id: string
  /** The provider's id of the message, at most 300 characters. */
  externalId: string
  error: string
}

export interface ChannelAdapter {
  readonly channel: Channel
  /**
   * For `credentials`: the names that it requires, and those that it may have. For `config`: the
   * names that it knows.
   */
  readonly fields: {
    credentials: Readonly<Record<string, { needed: boolean; description: string }>>
    config: Readonly<Record<string, { description: string }>>
  }
  /** The form of a routing key by which posts name it, or an error in words. */
  routingKeyOf(text: string): { key: string } | { error: string }
  /** What is wrong with the values of `config`, in words. */
  configError(config: Readonly<Record<string, unknown>>): string | undefined
  /** Never throws, whatever bytes arrive. */
  route(post: InboundPost): Routed
  /**
   * Whether the post was signed with the connection's secret. Takes constant time and never throws.
   */
  verify(post: InboundPost, connection: OpenConnection): boolean
  /**
   * What is wrong with a verified post, naming the field, if whoever signs it can correct it. Never
   * throws.
   */
  flawOf?(post: InboundPost): string | undefined
  /** The messages of a verified post that are for this connection. Never throws. */
  read(post: InboundPost, connection: OpenConnection): InboundMessages
  /**
   * What a verified post reports about undelivered messages of this connection. Other reports about
   * them are of no use to us. Never throws.
   */
  undelivered?(post: InboundPost, connection: OpenConnection): readonly UndeliveredMessage[]
  /** Asks the provider whether the routing key belongs to these credentials. */
  check(connection: OpenConnection, signal: AbortSignal): Promise<CredentialCheck>
  /** Makes one request, which is never repeated. */
  send(connection: OpenConnection, message: Outgoing, signal: AbortSignal): Promise<SendResult>
  /** The least time between two messages of a connection, in milliseconds. */
  readonly spacingMs: number
  /**
   * For how long the connection's provider treats a repeated `Outgoing.id` as the same message.
   * Within that time, a message with an unknown result can be tried again.
   */
  repeatableForMs?(connection: OpenConnection): number
  /** Fetches the text and the attachments of a message whose post had none. */
  fetch?(
    connection: OpenConnection,
    toFetch: Record<string, unknown>,
    signal: AbortSignal,
  ): Promise<Fetched<FetchedMessage>>
  /** Fetches the bytes of an attachment, at most `maxBytes`. */
  download?(
    connection: OpenConnection,
    ref: Record<string, unknown>,
    signal: AbortSignal,
  ): Promise<Fetched<Uint8Array>>
}
