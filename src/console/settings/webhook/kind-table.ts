/** Runs as the console is built, so that the browser gets words instead of schemas. */
import { events } from '#contract/events'

export type EventKindRow = [type: string, summary: string]

/** Every endpoint receives it. */
const TEST = 'webhook.test'

export const eventKindTable = (): EventKindRow[] =>
  events.flatMap(({ type, summary }) => (type === TEST ? [] : [[type, summary]]))
