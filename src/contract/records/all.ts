/** All declared records. */
import { documentRecord } from './agent/document.ts'
import { engagementRecord } from './growth/engagement.ts'
import { itemRecord } from './growth/item.ts'
import { learningRecord } from './growth/learning.ts'
import { productRecord } from './growth/product.ts'
import type { Declared } from './record.ts'

export const records: readonly Declared[] = [documentRecord, engagementRecord, itemRecord, learningRecord, productRecord]
