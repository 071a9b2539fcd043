/** Completion for three shells: scripts made from the commands, which need nothing of this program while one types. */
import type { Command } from 'commander'
import { completionBash } from './completion-bash.ts'
import { completionFish } from './completion-fish.ts'
import { completionZsh } from './completion-zsh.ts'
import type { Shell } from './own.ts'
import { type CommandPlace, placesIn } from './places.ts'

const writers: Record<Shell, (places: readonly CommandPlace[]) => string> = {
  bash: completionBash,
  zsh: completionZsh,
  fish: completionFish,
}

/** The script of a shell for a program with all its commands. */
export const completionFor = (shell: Shell, program: Command): string => writers[shell](placesIn(program, ''))
