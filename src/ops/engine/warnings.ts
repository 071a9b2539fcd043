/**
 * Warnings of items in answers. A read computes them from what it has read with each draft. A
 * command declares what to warn about, and what that depends on is read with its own records.
 */
import type { TSchema } from '@sinclair/typebox'
import { Warnings } from '#contract/records/growth/item'
import { itemOfWarnings, type ShownItem } from '#domain/growth/drafting/item-view'
import type { Warning } from '#domain/growth/drafting/warnings'
import { rewriting } from './rewriting.ts'

const items = rewriting<{ warnings: Warning[] }>(
  ({ properties }) => properties?.warnings === Warnings,
)

/** A copy of a reply in which items have their warnings. */
export const withWarnings = <T>(
  schema: TSchema,
  reply: T,
  find: (item: ShownItem) => Warning[],
): T =>
  items(schema, reply, (view) => {
    const item = itemOfWarnings(view.warnings)
    return item ? { ...view, warnings: find(item) } : view
  }) as T
