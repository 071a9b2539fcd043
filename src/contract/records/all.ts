/** All declared records, by their tables. */
import { documentRecord } from './agent/document.ts'
import { itemRecord } from './growth/item.ts'
import type { Declared } from './record.ts'

export const records: readonly Declared[] = [documentRecord, itemRecord]
