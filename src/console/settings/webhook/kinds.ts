/** The kinds of events that a webhook can receive. */
import type { InputOf } from '../../api/operations.ts'
import { eventKindTable } from './kind-table.ts' with { type: 'macro' }

export type EventKind = NonNullable<InputOf<'app.webhook.set'>['events']>[number]

export const kindRows = eventKindTable() as [type: EventKind, summary: string][]

export const isEventKind = (type: string): type is EventKind =>
  kindRows.some(([kind]) => kind === type)
