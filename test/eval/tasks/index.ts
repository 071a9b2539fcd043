import type { Task } from '../task.ts'
import { engaging } from './engaging.ts'
import { growth } from './growth.ts'
import { knowledge } from './knowledge.ts'
import { poisoned } from './poisoned.ts'
import { publishing } from './publishing.ts'
import { review } from './review.ts'
import { unattended } from './unattended.ts'

export const tasks: Task[] = [
  ...review,
  ...publishing,
  ...growth,
  ...engaging,
  ...knowledge,
  ...unattended,
  ...poisoned,
]
