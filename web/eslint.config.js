import eslint from "@eslint/js";
import { defineConfig } from "eslint/config";
import tseslint from "typescript-eslint";

export default defineConfig(
  { ignores: ["dist", "node_modules"] },
  eslint.configs.recommended,
  tseslint.configs.strictTypeChecked,
  tseslint.configs.stylisticTypeChecked,
  {
    languageOptions: {
      parserOptions: {
        projectService: { allowDefaultProject: ["eslint.config.js"] },
        tsconfigRootDir: import.meta.dirname,
      },
    },
    rules: {
      "@typescript-eslint/restrict-template-expressions": ["error", { allowNumber: true }],
      "@typescript-eslint/no-confusing-void-expression": ["error", { ignoreArrowShorthand: true }],
      "max-lines-per-function": ["error", { max: 50, skipComments: true }],
    },
  },
  {
    // Inner loops over typed arrays: indices come from the topology, and a check would cost there.
    files: ["surface", "partition", "coarse", "order", "skin"].map(
      (name) => `src/scene3d/${name}.ts`,
    ),
    rules: { "@typescript-eslint/no-non-null-assertion": "off" },
  },
  {
    // A `describe` is a list of tests, not a function in need of splitting.
    files: ["**/*.test.ts", "e2e/**"],
    rules: { "max-lines-per-function": "off" },
  },
);
