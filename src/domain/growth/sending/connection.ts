/** An account on the network. One of the connected ones is the default, from which new content posts. */
export interface Connection {
  id: string
  network: string
  /** The network's own id of the account. */
  external_id: string
  handle: string
  status: 'connected' | 'disconnected'
  is_default: boolean
  created_at: Date
  updated_at: Date
}

/** Accounts of a workspace that are connected at once. */
export const mostConnected = 50
