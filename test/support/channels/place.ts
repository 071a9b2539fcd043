/** What people and a provider do at a connection, in the same words for every channel. */
import { channelAdmin } from './channels.ts'
import type { ChannelWorld } from './world.ts'

export interface Delivered {
  status: number
  body: string
}

/** A message of somebody. */
export interface Said extends Delivered {
  /** All ways in which the provider delivers it again. */
  again(): Promise<Delivered[]>
  /** What was answered where it was said, oldest first, once there is so much. */
  answers(count: number): Promise<string[]>
}

interface Saying {
  /** A text file that comes with it. */
  file?: { name: string; text: string }
  /** The message in whose conversation it is, where the channel does not say so itself. */
  after?: Said
}

/** A connection in a workspace of its own. */
export interface ChannelPlace extends Awaited<ReturnType<typeof channelAdmin>> {
  id: string
  tenantId: string
  says(sender: string, text: string, more?: Saying): Promise<Said>
  /** Posts that the provider never sent: each is refused, and one as the other. */
  forged(): Promise<Delivered[]>
  /** Posts of the provider about which nobody wants to hear: of machines, and of ourselves. */
  ignored(): Promise<Delivered[]>
  /** The provider asks for a pause, in place of taking the next message. */
  pauses(): void
  /** The provider takes the next message, and does not say so. */
  losesAnswer(): void
  /** Requests that sent messages, those included that were not taken. */
  sends(): number
  /**
   * The provider knows other credentials from now on: those to be given. `named`: what the
   * connection says of the old ones.
   */
  withdraws?(): { old: string; fresh: Record<string, string>; named: string }
}

/** Connects a channel in a new workspace. */
export const connectedPlace = async ({ app }: ChannelWorld, body: Record<string, unknown>) => {
  const { tenantId } = await app.newWorkspace()
  const admin = await channelAdmin(app, tenantId)
  return { ...admin, tenantId, id: await admin.active(body) }
}

/** How often a provider has got such a request. */
export const countOf = (requests: readonly (string | { url: string })[], end: string): number =>
  requests.filter((one) => (typeof one === 'string' ? one : one.url.split('?')[0]!).endsWith(end))
    .length

export const delivered = async (request: Request): Promise<Delivered> => {
  const response = await fetch(request)
  return { status: response.status, body: await response.text() }
}
