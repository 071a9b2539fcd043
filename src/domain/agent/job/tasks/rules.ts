/** The output of a task without a model. */
import { actionItemsIn } from './action-items.ts'
import { classified } from './classify.ts'
import { labelsOf, type Task } from './forms.ts'

/** Undefined if the text gives no evidence, and only a model could tell. */
export const answerByRules = (task: Task): Record<string, unknown> | undefined => {
  const { text } = task.input
  if (task.type === 'extract_action_items') return { items: actionItemsIn(text), method: 'rules' }
  const label = classified(text, labelsOf(task))
  return label === undefined ? undefined : { label, confidence: 'low', method: 'rules' }
}
