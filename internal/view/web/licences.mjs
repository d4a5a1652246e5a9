// Writes licences.txt: the licences of the libraries in dist/app.js.
import { readFileSync, writeFileSync } from "node:fs";

let text = "The page of lime view contains these libraries.\n";
for (const name of ["preact", "htm"]) {
  const { version } = JSON.parse(readFileSync(`node_modules/${name}/package.json`));
  text += `\n== ${name} ${version} ==\n\n${readFileSync(`node_modules/${name}/LICENSE`, "utf8")}`;
}
writeFileSync("licences.txt", text);
