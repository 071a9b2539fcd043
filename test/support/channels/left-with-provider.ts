/** A provider that keeps texts and files of messages until it is asked for them. */
import type { Fetched, FetchedMessage } from '#port/channel/channel'
import type { AppOptions } from '../app.ts'
import { scriptedModel } from '../model/scripted-model.ts'

type Fetch = () => Fetched<FetchedMessage>
export type Download = () => Fetched<Uint8Array> | undefined

/** A dev channel whose provider keeps files, and texts that begin with "later". */
export const leftWithProvider = () => {
  /** What the provider answers, by the text of the message and by the name of a file. */
  const fetches = new Map<string, Fetch>()
  const downloads = new Map<string, Download>()
  const asked: string[] = []
  const options: AppOptions = {
    model: scriptedModel(() => ({ text: 'Seen.' })),
    overrides: {
      channels: ({ dev, ...others }) => ({
        ...others,
        dev: {
          ...dev!,
          read: (post, open) =>
            dev!.read(post, open).map((message) => ({
              ...message,
              ...(message.text?.startsWith('later')
                ? { text: null, toFetch: { of: message.text } }
                : {}),
              attachments: message.attachments.map((file) => ({
                ...file,
                ref: file.ref && { ...file.ref, name: file.name },
              })),
            })),
          async fetch(_, { of }) {
            asked.push(String(of))
            return fetches.get(String(of))!()
          },
          async download(open, ref, signal) {
            asked.push(String(ref.name))
            return downloads.get(String(ref.name))?.() ?? dev!.download!(open, ref, signal)
          },
        },
      }),
    },
  }
  return { options, fetches, downloads, asked }
}
