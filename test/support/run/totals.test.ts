import { expect, test } from 'bun:test'
import { failuresOf, lineOf, missingFrom, totalsOf } from './totals.ts'

const report = (attributes: string): string => `<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="bun test" ${attributes} time="0.01">
  <testsuite name="a.test.ts" tests="99" failures="98" skipped="97"></testsuite>
</testsuites>`

test.each([
  [
    'a run in which all passed',
    report('tests="5" assertions="9" failures="0" skipped="0"'),
    0,
    '5 passed, 0 failed',
  ],
  [
    'skipped tests',
    report('tests="5" assertions="9" failures="0" skipped="2"'),
    0,
    '3 passed, 0 failed, 2 skipped',
  ],
  [
    'failures',
    report('tests="5" assertions="9" failures="3" skipped="0"'),
    1,
    '2 passed, 3 failed',
  ],
  [
    'a file that did not load beside others that did',
    report('tests="5" failures="0" skipped="0"'),
    1,
    '5 passed, 1 failed',
  ],
  [
    'a run in which no test ran',
    report('tests="2" failures="0" skipped="2"'),
    0,
    '0 passed, 1 failed, 2 skipped',
  ],
  ['a run that wrote no report', '', 0, '0 passed, 1 failed'],
  ['a run that was killed', '', 137, '0 passed, 1 failed'],
])('the closing line of %s', (_, xml, exitCode, line) => {
  expect(lineOf(totalsOf(xml, exitCode))).toBe(line)
})

test('failed tests are named with their files and what was thrown', () => {
  const xml = `<testsuites tests="3" failures="2"><testsuite name="a.test.ts" file="test/a.test.ts">
    <testcase name="holds" classname="" time="0.1" file="test/a.test.ts" line="1" assertions="1" />
    <testcase name="says &quot;a &lt; b&quot;" classname="" time="0.1" file="test/a.test.ts" line="2" assertions="1">
      <failure type="AssertionError" />
    </testcase>
    <testcase name="throws" classname="" time="0.1" file="test/b.test.ts" line="2" assertions="0">
      <failure type="Error" message="no">at b</failure>
    </testcase>
  </testsuite></testsuites>`
  expect(failuresOf(xml)).toEqual([
    { file: 'test/a.test.ts', name: 'says "a < b"', type: 'AssertionError' },
    { file: 'test/b.test.ts', name: 'throws', type: 'Error' },
  ])
})

test('a file that is not in the report did not run', () => {
  const xml = '<testsuite name="a" file="test/a.test.ts" tests="1"></testsuite>'
  expect(missingFrom(xml, ['test/a.test.ts', 'test/b.test.ts'])).toEqual([
    { file: 'test/b.test.ts', name: '(the file did not run)', type: 'Missing' },
  ])
})
