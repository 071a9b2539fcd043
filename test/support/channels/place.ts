/** What people and a provider do with a connection, in the same terms for every channel. */
import { channelAdmin } from './channels.ts'
import type { ChannelWorld } from './world.ts'

export interface Delivered {
  status: number
  body: string
}

/** A message of somebody. */
export interface Said extends Delivered {
  /** All ways in which the provider can deliver it again. */
  again(): Promise<Delivered[]>
  /** The answers in the place where it was written, oldest first, once there are this many. */
  answers(count: number): Promise<string[]>
}

interface Saying {
  /** A text file that comes with it. */
  file?: { name: string; text: string }
  /** The message whose conversation it belongs to, where the channel does not tell. */
  after?: Said
}

/** A connection in a workspace of its own. */
export interface ChannelPlace extends Awaited<ReturnType<typeof channelAdmin>> {
  id: string
  tenantId: string
  says(sender: string, text: string, more?: Saying): Promise<Said>
  /** Posts that the provider never sent: each must be refused, and all in the same way. */
  forged(): Promise<Delivered[]>
  /** Posts of the provider that must be ignored: those of machines, and our own. */
  ignored(): Promise<Delivered[]>
  /** The provider accepts the next message, but does not confirm it. */
  losesAnswer(): void
  /** Requests that tried to send messages, including those that were not accepted. */
  sends(): number
  /**
   * From now on the provider knows only other credentials, which are returned. `named`: what the
   * connection says about the old ones.
   */
  withdraws?(): { old: string; fresh: Record<string, string>; named: string }
}

/** Connects a channel in a new workspace. */
export const connectedPlace = async ({ app }: ChannelWorld, body: Record<string, unknown>) => {
  const { tenantId } = await app.newWorkspace()
  const admin = await channelAdmin(app, tenantId)
  return { ...admin, tenantId, id: await admin.active(body) }
}

/** How often a provider has received such a request. */
export const countOf = (requests: readonly (string | { url: string })[], end: string): number =>
  requests.filter((one) => (typeof one === 'string' ? one : one.url.split('?')[0]!).endsWith(end))
    .length

export const delivered = async (request: Request): Promise<Delivered> => {
  const response = await fetch(request)
  return { status: response.status, body: await response.text() }
}
