/** A developer's program that is connected with a workspace of ours. */
import { newId } from '#kernel/ids'
import { eventually } from '../eventually.ts'
import { CHANNEL_SECRET } from './channels.ts'
import { type DevPost, postDev } from './dev-posts.ts'
import { type ChannelPlace, connectedPlace, type Said } from './place.ts'
import type { ChannelWorld } from './world.ts'

export const devStory = async (
  world: ChannelWorld,
  options: Record<string, unknown> = {},
): Promise<ChannelPlace> => {
  const { app, program } = world
  const [path, routingKey] = [`/${newId()}`, newId()]
  const { config, ...more } = options as { config?: object }
  const place = await connectedPlace(world, {
    channel: 'dev',
    routingKey,
    credentials: { secret: CHANNEL_SECRET },
    config: { url: new URL(path, program.url).href, ...config },
    ...more,
  })
  const deliver = async (post: DevPost, signing: Parameters<typeof postDev>[3] = {}) => {
    const { status, text: body } = await postDev(app.url, { routingKey }, post, signing)
    return { status, body }
  }
  return {
    ...place,
    async says(sender, text, { file } = {}): Promise<Said> {
      const attachments = file ? [{ ...file, mimeType: 'text/markdown' }] : []
      const post = { id: newId(), sender, text, attachments }
      const taken = () => program.messages.filter((one) => one.path === path)
      return {
        ...(await deliver(post)),
        again: () => Promise.all([1, 2].map(() => deliver(post))),
        answers: (many) =>
          eventually(
            () => taken().flatMap((one) => (one.sender === sender ? [one.text] : [])),
            (texts) => texts.length >= many,
          ),
      }
    },
    forged: () =>
      Promise.all([
        deliver({}, { secret: 'whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA' }),
        deliver({}, { secret: 'whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA', raw: '{"text":""}' }),
        deliver({ routingKey: 'nobodys' }),
        deliver({}, { raw: 'not JSON' }),
      ]),
    ignored: async () => [],
    losesAnswer: () => void program.next.push({ status: 500 }),
    sends: () => program.requests.filter(({ url }) => url === path).length,
  }
}
