/** The input and output of each type of task. */
import type { TaskTypeName } from '#contract/task-types'

export interface Task {
  type: TaskTypeName
  input: { text: string; labels?: (string | Label)[] }
  /** How many answers a model may give until one has the form of the type; null: the default. */
  max_attempts: number | null
}

export interface Label {
  name: string
  description?: string
  examples?: string[]
}

export const labelsOf = ({ input: { labels = [] } }: Task): Label[] =>
  labels.map((label) => (typeof label === 'string' ? { name: label } : label))

export interface ActionItem {
  text: string
  owner: string | null
  /** In the words of the text. */
  due: string | null
}

export const confidences = ['low', 'medium', 'high'] as const

/** The most action items that a task gives. */
export const MOST_ITEMS = 100
