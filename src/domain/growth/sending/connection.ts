/** An account on a network. One connected account is the default, which sends new content. */
export interface Connection {
  id: string
  network: string
  /** The network's id of the account. */
  external_id: string
  handle: string
  status: 'connected' | 'disconnected'
  is_default: boolean
  created_at: Date
  updated_at: Date
}

/** The most accounts of a workspace connected at once. */
export const mostConnected = 50
