/** Fields that most records have. */
import { Id, Time } from '../shapes.ts'

export const id = { type: 'uuid', shown: Id, fixed: true } as const

export const times = {
  created_at: { type: 'timestamp with time zone', shown: Time, fixed: true },
  updated_at: { type: 'timestamp with time zone', shown: Time },
} as const
